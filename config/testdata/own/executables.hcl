required_plugins {
  a = { source = "x.example/y", version = "1.0.0", executable = "" }
  b = { source = "x.example/y", version = "1.0.0", executable = "plugins/aws" }
  c = { source = "x.example/y", version = "1.0.0", executable = "/plugins/../../etc/passwd" }
  d = { source = "x.example/y", version = "1.0.0", executable = "C:\\plugins\\aws.exe" }
  e = { source = "x.example/y", version = "1.0.0", executable = "/plugins//aws" }
  f = { source = "x.example/y", version = "1.0.0", executable = "/plugins/a\nws" }
  g = { source = "x.example/y", version = "1.0.0", executable = { "linux/amd64" = "", "linux/arm64" = 5, "linux/riscv64" = "/" } }
  h = { source = "x.example/y", version = "1.0.0", executable = "/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" }
}

# ERROR: 2:65 Invalid executable path
# ERROR: 3:65 Invalid executable path
# ERROR: 4:65 Invalid executable path
# ERROR: 5:65 Invalid executable path
# ERROR: 6:65 Invalid executable path
# ERROR: 7:65 Invalid executable path
# ERROR: 8:83 Value of the wrong type
# ERROR: 8:103 Value of the wrong type
# ERROR: 8:124 Invalid executable path
# ERROR: 9:65 Invalid executable path
