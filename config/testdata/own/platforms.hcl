plugins {
  platforms = ["linux/amd64", "windows/amd64", "linux/amd46", "linux", "linux/arm64/v8", "linux/arm64", "linux/amd64"]
}

required_plugins {
  a = { source = "x.example/y", version = "1.0.0", executable = { "linux/amd64" = "/a" }, platforms = ["linux/amd64"] }
  b = { source = "x.example/y", version = "1.0.0", executable = { "linux/amd64" = "/a" }, platforms = ["linux/amd64", "darwin/arm64"] }
  c = { source = "x.example/y", version = "1.0.0", executable = { "linux/amd64" = "/a" } }
  d = { source = "x.example/y", version = "1.0.0", executable = { "linux/arm" = "/a", "linux/arm/v7" = "/b", "linx/arm" = "/c" }, platforms = ["linux/arm"] }
  e = { source = "x.example/y", version = "1.0.0", protocols = [5, 5] }
}

# ERROR: 2:48 Invalid platform
# ERROR: 2:63 Invalid platform
# ERROR: 2:90 Platform listed twice
# ERROR: 2:105 Platform listed twice
# ERROR: 7:65 Executable missing for a platform
# ERROR: 8:65 Executable missing for a platform
# ERROR: 9:87 Platform listed twice
# ERROR: 9:110 Invalid platform
# ERROR: 10:68 Protocol version listed twice
