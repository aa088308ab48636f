# SPDX-License-Identifier: BSD-3-Clause
"""Carries libkith with GPU code, which the package kith loads in place of its own."""
