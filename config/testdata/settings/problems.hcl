registry {
}

registry "Registry.Example.com" {
  mirrorr  = "x.example"
  fallback = true
}

registry "registry.example.com:443" {
  mirror = "registry.example.com"
  tags   = true
}

registry "https://x.example" {
  mirror     = "mirror"
  plain_http = "yes"
  ca_file    = 5
}

registry "user:secret@y.example/" {
  mirror = var.mirror
}

source {
}

sources {
  allow = ["x.example", "x.example:443", "", "x"]
}

sources {
  allow = []
}

limits {
  entries    = 0
  bytes      = "4GB"
  file_bytes = "9999999GiB"
  ratio      = 1.5
  depht      = 5
  ratio_from = file("x")
  zstd_window = true
}

limits {
}

proxy = "x"

# ERROR: 1:10 Missing prefix for registry
# ERROR: 5:3 Unsupported argument
# ERROR: 6:3 Setting without effect
# ERROR: 9:10 Prefix written twice
# ERROR: 10:12 Invalid mirror
# ERROR: 11:3 Setting without effect
# ERROR: 14:10 Invalid registry prefix
# ERROR: 15:16 Invalid mirror
# ERROR: 16:16 Value of the wrong type
# ERROR: 17:16 Value of the wrong type
# ERROR: 20:10 Invalid registry prefix
# ERROR: 21:12 Value is not a literal
# ERROR: 24:1 Unsupported block type
# ERROR: 28:25 Prefix written twice
# ERROR: 28:42 Value of the wrong type
# ERROR: 28:46 Invalid registry prefix
# ERROR: 31:1 Block written twice
# ERROR: 36:16 Value of the wrong type
# ERROR: 37:16 Value of the wrong type
# ERROR: 38:16 Value of the wrong type
# ERROR: 39:16 Value of the wrong type
# ERROR: 40:3 Unsupported argument
# ERROR: 41:16 Value is not a literal
# ERROR: 42:17 Value of the wrong type
# ERROR: 45:1 Block written twice
# ERROR: 48:1 Unsupported argument
