// What the protos' go_package names. The test generates the code beside this file, in a copy.
module bailiff.dev/api

go 1.26.0
