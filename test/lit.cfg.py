"""lit configuration: what a RUN line may name, and which files are tests."""

import os

import lit.formats

config.name = "Wok"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.excludes = ["Unit", "Python", "Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.wok_binary_dir, "test")

tools = [os.path.join(config.wok_binary_dir, "bin"), config.llvm_tools_dir]
config.environment["PATH"] = os.pathsep.join(tools + [config.environment["PATH"]])
