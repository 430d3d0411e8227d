# ERROR: 22:13 Not a plain value
# ERROR: 23:13 Not a plain value
# ERROR: 24:13 Not a plain value
# ERROR: 33:13 Not a plain value
# ERROR: 34:13 Not a plain value
# ERROR: 35:13 Not a plain value
# ERROR: 44:13 Not a plain value
# ERROR: 45:13 Wrong type
# ERROR: 46:13 Wrong type
# ERROR: 55:13 Wrong type
# ERROR: 56:13 Wrong type
# ERROR: 57:13 Wrong type
# ERROR: 66:13 Invalid source
# ERROR: 69:13 Not a plain value
# ERROR: 70:13 Not a plain value
# ERROR: 80:13 Not a plain value
# ERROR: 81:13 Not a plain value

lock_format = 1

plugin "aws" {
  source  = var.source
  version = upper("1.4.2")
  digest  = "${"sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}"

  platform "linux/amd64" {
    manifest          = "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
    executable_digest = "sha256:cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
  }
}

plugin "b" {
  source  = "registry.example.com/${var.x}"
  version = "1.4.${2}"
  digest  = true ? "a" : "b"

  platform "linux/amd64" {
    manifest          = "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
    executable_digest = "sha256:cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
  }
}

plugin "c" {
  source  = ("registry.example.com/a")
  version = 1.4
  digest  = null

  platform "linux/amd64" {
    manifest          = "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
    executable_digest = "sha256:cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
  }
}

plugin "d" {
  source  = ["registry.example.com/a"]
  version = {}
  digest  = -1

  platform "linux/amd64" {
    manifest          = "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
    executable_digest = "sha256:cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
  }
}

plugin "e" {
  source  = <<EOT
registry.example.com/a
EOT
  version = "1.4" + "2"
  digest  = "%{ if true }x%{ endif }"

  platform "linux/amd64" {
    manifest          = "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
    executable_digest = "sha256:cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
  }
}

plugin "f" {
  source  = "registry.example.com/fleeting/aws"
  version = "1.4.2"[0]
  digest  = [for x in ["a"] : x]

  platform "linux/amd64" {
    manifest          = "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
    executable_digest = "sha256:cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
  }
}
