/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Functions and types of the GPU's run-time library, under one name (gpu...) for CUDA and HIP. The
 * differences between CUDA and HIP inside kernels are in device.cuh.
 */
#ifndef KITH_GPU_GPU_H
#define KITH_GPU_GPU_H

/* Names that differ by more than the prefix. gpuSharedBytes and gpuSharedBytesOfAll are fields of
 * gpuDeviceProp: the most shared memory of a thread block, and that of a multiprocessor [bytes]. */
#ifdef __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>
#define KITH_GPU_NAME(name) hip##name
#define gpuDeviceProp hipDeviceProp_t
#define gpuErrorMemoryAllocation hipErrorOutOfMemory
#define gpuFreeHost hipHostFree
#define gpuFuncAttributes hipFuncAttributes
#define gpuGraphInstantiate(exec, graph) hipGraphInstantiate(exec, graph, NULL, NULL, 0)
#define gpuMallocHost(pointer, bytes) hipHostMalloc(pointer, bytes, hipHostMallocDefault)
#define gpuSharedBytes sharedMemPerBlock
#define gpuSharedBytesOfAll maxSharedMemoryPerMultiProcessor
#define gpuStreamCaptureMode hipStreamCaptureMode
#define gpuStreamCaptureStatus hipStreamCaptureStatus
#else
#include <cuda_runtime_api.h>
#define KITH_GPU_NAME(name) cuda##name
#define gpuDeviceProp struct cudaDeviceProp
#define gpuErrorMemoryAllocation cudaErrorMemoryAllocation
#define gpuFreeHost cudaFreeHost
#define gpuFuncAttributes struct cudaFuncAttributes
#define gpuGraphInstantiate(exec, graph) cudaGraphInstantiateWithFlags(exec, graph, 0)
#define gpuMallocHost(pointer, bytes) cudaMallocHost(pointer, bytes)
#define gpuSharedBytes sharedMemPerBlockOptin
#define gpuSharedBytesOfAll sharedMemPerMultiprocessor
#define gpuStreamCaptureMode enum cudaStreamCaptureMode
#define gpuStreamCaptureStatus enum cudaStreamCaptureStatus
#endif

/* Names that differ by the prefix alone. */
#define gpuDeviceSynchronize KITH_GPU_NAME(DeviceSynchronize)
#define gpuDriverGetVersion KITH_GPU_NAME(DriverGetVersion)
#define gpuErrorNotReady KITH_GPU_NAME(ErrorNotReady)
#define gpuErrorStreamCaptureUnsupported KITH_GPU_NAME(ErrorStreamCaptureUnsupported)
#define gpuErrorStreamCaptureWrongThread KITH_GPU_NAME(ErrorStreamCaptureWrongThread)
#define gpuError_t KITH_GPU_NAME(Error_t)
#define gpuEventCreateWithFlags KITH_GPU_NAME(EventCreateWithFlags)
#define gpuEventDestroy KITH_GPU_NAME(EventDestroy)
#define gpuEventDisableTiming KITH_GPU_NAME(EventDisableTiming)
#define gpuEventQuery KITH_GPU_NAME(EventQuery)
#define gpuEventRecord KITH_GPU_NAME(EventRecord)
#define gpuEventSynchronize KITH_GPU_NAME(EventSynchronize)
#define gpuEvent_t KITH_GPU_NAME(Event_t)
#define gpuFree KITH_GPU_NAME(Free)
#define gpuFuncAttributeMaxDynamicSharedMemorySize \
    KITH_GPU_NAME(FuncAttributeMaxDynamicSharedMemorySize)
#define gpuFuncGetAttributes KITH_GPU_NAME(FuncGetAttributes)
#define gpuFuncSetAttribute KITH_GPU_NAME(FuncSetAttribute)
#define gpuGraphDestroy KITH_GPU_NAME(GraphDestroy)
#define gpuGraphExecDestroy KITH_GPU_NAME(GraphExecDestroy)
#define gpuGraphExec_t KITH_GPU_NAME(GraphExec_t)
#define gpuGraphLaunch KITH_GPU_NAME(GraphLaunch)
#define gpuGraph_t KITH_GPU_NAME(Graph_t)
#define gpuGetDevice KITH_GPU_NAME(GetDevice)
#define gpuGetDeviceCount KITH_GPU_NAME(GetDeviceCount)
#define gpuGetDeviceProperties KITH_GPU_NAME(GetDeviceProperties)
#define gpuGetErrorString KITH_GPU_NAME(GetErrorString)
#define gpuGetLastError KITH_GPU_NAME(GetLastError)
#define gpuMalloc KITH_GPU_NAME(Malloc)
#define gpuMemcpyAsync KITH_GPU_NAME(MemcpyAsync)
#define gpuMemcpyDeviceToDevice KITH_GPU_NAME(MemcpyDeviceToDevice)
#define gpuMemcpyDeviceToHost KITH_GPU_NAME(MemcpyDeviceToHost)
#define gpuMemcpyHostToDevice KITH_GPU_NAME(MemcpyHostToDevice)
#define gpuMemsetAsync KITH_GPU_NAME(MemsetAsync)
#define gpuRuntimeGetVersion KITH_GPU_NAME(RuntimeGetVersion)
#define gpuSetDevice KITH_GPU_NAME(SetDevice)
#define gpuStreamBeginCapture KITH_GPU_NAME(StreamBeginCapture)
#define gpuStreamCaptureModeRelaxed KITH_GPU_NAME(StreamCaptureModeRelaxed)
#define gpuStreamCaptureModeThreadLocal KITH_GPU_NAME(StreamCaptureModeThreadLocal)
#define gpuStreamCaptureStatusNone KITH_GPU_NAME(StreamCaptureStatusNone)
#define gpuStreamCreate KITH_GPU_NAME(StreamCreate)
#define gpuStreamCreateWithFlags KITH_GPU_NAME(StreamCreateWithFlags)
#define gpuStreamDestroy KITH_GPU_NAME(StreamDestroy)
#define gpuStreamEndCapture KITH_GPU_NAME(StreamEndCapture)
#define gpuStreamIsCapturing KITH_GPU_NAME(StreamIsCapturing)
#define gpuStreamNonBlocking KITH_GPU_NAME(StreamNonBlocking)
#define gpuStreamQuery KITH_GPU_NAME(StreamQuery)
#define gpuStreamSynchronize KITH_GPU_NAME(StreamSynchronize)
#define gpuStreamWaitEvent KITH_GPU_NAME(StreamWaitEvent)
#define gpuStream_t KITH_GPU_NAME(Stream_t)
#define gpuSuccess KITH_GPU_NAME(Success)
#define gpuThreadExchangeStreamCaptureMode KITH_GPU_NAME(ThreadExchangeStreamCaptureMode)

#endif
