// What the protos' go_package names; `make` here generates the code beside this file.
module bailiff.dev/api

go 1.26.0
