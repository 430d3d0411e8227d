# ERROR: 12:1 Unknown attribute
# ERROR: 18:3 Unknown attribute
# ERROR: 19:3 Unknown attribute
# ERROR: 35:5 Unknown attribute
# ERROR: 36:5 Unknown block
# ERROR: 40:3 Unknown block
# ERROR: 44:1 Unknown block
# ERROR: 47:1 Unknown block

lock_format = 1

lock_formt = 1

plugin "aws" {
  source  = "registry.example.com/fleeting/aws"
  version = "1.4.2"
  digest  = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
  sorce = "x"
  constraint = "~> 1.4"

  platform "linux/amd64" {
    manifest          = "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
    executable_digest = "sha256:cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
  }
}

plugin "b" {
  source  = "registry.example.com/fleeting/aws"
  version = "1.4.2"
  digest  = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

  platform "linux/amd64" {
    manifest          = "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
    executable_digest = "sha256:cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
    size = 5
    note "x" {
    }
  }

  platfrm "linux/arm64" {
  }
}

plugins {
}

plugin_x "y" {
}
