# ERROR: 20:12 Duplicate platform

lock_format = 1

plugin "aws" {
  source  = "registry.example.com/fleeting/aws"
  version = "1.4.2"
  digest  = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

  platform "linux/amd64" {
    manifest          = "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
    executable_digest = "sha256:cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
  }

  platform "linux/arm64" {
    manifest          = "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
    executable_digest = "sha256:cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
  }

  platform "linux/amd64" {
    manifest          = "sha256:dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"
    executable_digest = "sha256:cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
  }
}
