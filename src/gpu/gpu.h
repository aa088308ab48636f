/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The run-time calls of the GPU, named once for CUDA and HIP. What differs between the two inside
 * kernels is in device.cuh.
 */
#ifndef KITH_GPU_GPU_H
#define KITH_GPU_GPU_H

#ifdef __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>
#define gpuDeviceProp hipDeviceProp_t
#define gpuDeviceSynchronize hipDeviceSynchronize
#define gpuErrorMemoryAllocation hipErrorOutOfMemory
#define gpuErrorNotReady hipErrorNotReady
#define gpuError_t hipError_t
#define gpuEventCreateWithFlags hipEventCreateWithFlags
#define gpuEventDestroy hipEventDestroy
#define gpuEventDisableTiming hipEventDisableTiming
#define gpuEventRecord hipEventRecord
#define gpuEventSynchronize hipEventSynchronize
#define gpuEvent_t hipEvent_t
#define gpuFree hipFree
#define gpuFuncAttributes hipFuncAttributes
#define gpuFuncAttributeMaxDynamicSharedMemorySize hipFuncAttributeMaxDynamicSharedMemorySize
#define gpuFuncGetAttributes hipFuncGetAttributes
#define gpuFuncSetAttribute hipFuncSetAttribute
#define gpuFreeHost hipHostFree
#define gpuGraphDestroy hipGraphDestroy
#define gpuGraphExecDestroy hipGraphExecDestroy
#define gpuGraphExec_t hipGraphExec_t
#define gpuGraphInstantiate(exec, graph) hipGraphInstantiate(exec, graph, NULL, NULL, 0)
#define gpuGraphLaunch hipGraphLaunch
#define gpuGraph_t hipGraph_t
#define gpuGetDevice hipGetDevice
#define gpuGetDeviceCount hipGetDeviceCount
#define gpuGetDeviceProperties hipGetDeviceProperties
#define gpuGetErrorString hipGetErrorString
#define gpuGetLastError hipGetLastError
#define gpuMalloc hipMalloc
#define gpuMallocHost(pointer, bytes) hipHostMalloc(pointer, bytes, hipHostMallocDefault)
#define gpuMemcpyAsync hipMemcpyAsync
#define gpuMemcpyDeviceToDevice hipMemcpyDeviceToDevice
#define gpuMemcpyDeviceToHost hipMemcpyDeviceToHost
#define gpuMemcpyHostToDevice hipMemcpyHostToDevice
#define gpuMemsetAsync hipMemsetAsync
#define gpuSharedBytes sharedMemPerBlock
#define gpuSharedBytesOfAll maxSharedMemoryPerMultiProcessor
#define gpuSetDevice hipSetDevice
#define gpuStreamBeginCapture hipStreamBeginCapture
#define gpuStreamCaptureModeThreadLocal hipStreamCaptureModeThreadLocal
#define gpuStreamCreate hipStreamCreate
#define gpuStreamDestroy hipStreamDestroy
#define gpuStreamEndCapture hipStreamEndCapture
#define gpuStreamQuery hipStreamQuery
#define gpuStreamSynchronize hipStreamSynchronize
#define gpuStreamWaitEvent hipStreamWaitEvent
#define gpuStream_t hipStream_t
#define gpuSuccess hipSuccess
#else
#include <cuda_runtime_api.h>
#define gpuDeviceProp struct cudaDeviceProp
#define gpuDeviceSynchronize cudaDeviceSynchronize
#define gpuErrorMemoryAllocation cudaErrorMemoryAllocation
#define gpuErrorNotReady cudaErrorNotReady
#define gpuError_t cudaError_t
#define gpuEventCreateWithFlags cudaEventCreateWithFlags
#define gpuEventDestroy cudaEventDestroy
#define gpuEventDisableTiming cudaEventDisableTiming
#define gpuEventRecord cudaEventRecord
#define gpuEventSynchronize cudaEventSynchronize
#define gpuEvent_t cudaEvent_t
#define gpuFree cudaFree
#define gpuFuncAttributes cudaFuncAttributes
#define gpuFuncAttributeMaxDynamicSharedMemorySize cudaFuncAttributeMaxDynamicSharedMemorySize
#define gpuFuncGetAttributes cudaFuncGetAttributes
#define gpuFuncSetAttribute cudaFuncSetAttribute
#define gpuFreeHost cudaFreeHost
#define gpuGraphDestroy cudaGraphDestroy
#define gpuGraphExecDestroy cudaGraphExecDestroy
#define gpuGraphExec_t cudaGraphExec_t
#define gpuGraphInstantiate(exec, graph) cudaGraphInstantiateWithFlags(exec, graph, 0)
#define gpuGraphLaunch cudaGraphLaunch
#define gpuGraph_t cudaGraph_t
#define gpuGetDevice cudaGetDevice
#define gpuGetDeviceCount cudaGetDeviceCount
#define gpuGetDeviceProperties cudaGetDeviceProperties
#define gpuGetErrorString cudaGetErrorString
#define gpuGetLastError cudaGetLastError
#define gpuMalloc cudaMalloc
#define gpuMallocHost(pointer, bytes) cudaMallocHost(pointer, bytes)
#define gpuMemcpyAsync cudaMemcpyAsync
#define gpuMemcpyDeviceToDevice cudaMemcpyDeviceToDevice
#define gpuMemcpyDeviceToHost cudaMemcpyDeviceToHost
#define gpuMemcpyHostToDevice cudaMemcpyHostToDevice
#define gpuMemsetAsync cudaMemsetAsync
#define gpuSharedBytes sharedMemPerBlockOptin
#define gpuSharedBytesOfAll sharedMemPerMultiprocessor
#define gpuSetDevice cudaSetDevice
#define gpuStreamBeginCapture cudaStreamBeginCapture
#define gpuStreamCaptureModeThreadLocal cudaStreamCaptureModeThreadLocal
#define gpuStreamCreate cudaStreamCreate
#define gpuStreamDestroy cudaStreamDestroy
#define gpuStreamEndCapture cudaStreamEndCapture
#define gpuStreamQuery cudaStreamQuery
#define gpuStreamSynchronize cudaStreamSynchronize
#define gpuStreamWaitEvent cudaStreamWaitEvent
#define gpuStream_t cudaStream_t
#define gpuSuccess cudaSuccess
#endif

#endif
