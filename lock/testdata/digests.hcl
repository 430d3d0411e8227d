# ERROR: 19:13 Invalid digest
# ERROR: 22:25 Invalid digest
# ERROR: 23:25 Invalid digest
# ERROR: 30:13 Invalid digest
# ERROR: 41:13 Invalid digest
# ERROR: 52:13 Invalid digest
# ERROR: 63:13 Invalid digest
# ERROR: 74:13 Invalid digest
# ERROR: 85:13 Invalid digest
# ERROR: 96:13 Invalid digest
# ERROR: 107:13 Invalid digest
# ERROR: 118:13 Invalid digest

lock_format = 1

plugin "aws" {
  source  = "registry.example.com/fleeting/aws"
  version = "1.4.2"
  digest  = "sha256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

  platform "linux/amd64" {
    manifest          = "md5:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
    executable_digest = "sha1:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
  }
}

plugin "p0" {
  source  = "registry.example.com/fleeting/aws"
  version = "1.4.2"
  digest  = "sha256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

  platform "linux/amd64" {
    manifest          = "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
    executable_digest = "sha256:cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
  }
}

plugin "p1" {
  source  = "registry.example.com/fleeting/aws"
  version = "1.4.2"
  digest  = "SHA256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

  platform "linux/amd64" {
    manifest          = "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
    executable_digest = "sha256:cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
  }
}

plugin "p2" {
  source  = "registry.example.com/fleeting/aws"
  version = "1.4.2"
  digest  = "md5:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

  platform "linux/amd64" {
    manifest          = "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
    executable_digest = "sha256:cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
  }
}

plugin "p3" {
  source  = "registry.example.com/fleeting/aws"
  version = "1.4.2"
  digest  = "sha1:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

  platform "linux/amd64" {
    manifest          = "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
    executable_digest = "sha256:cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
  }
}

plugin "p4" {
  source  = "registry.example.com/fleeting/aws"
  version = "1.4.2"
  digest  = "sha512:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

  platform "linux/amd64" {
    manifest          = "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
    executable_digest = "sha256:cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
  }
}

plugin "p5" {
  source  = "registry.example.com/fleeting/aws"
  version = "1.4.2"
  digest  = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

  platform "linux/amd64" {
    manifest          = "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
    executable_digest = "sha256:cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
  }
}

plugin "p6" {
  source  = "registry.example.com/fleeting/aws"
  version = "1.4.2"
  digest  = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

  platform "linux/amd64" {
    manifest          = "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
    executable_digest = "sha256:cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
  }
}

plugin "p7" {
  source  = "registry.example.com/fleeting/aws"
  version = "1.4.2"
  digest  = ""

  platform "linux/amd64" {
    manifest          = "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
    executable_digest = "sha256:cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
  }
}

plugin "p8" {
  source  = "registry.example.com/fleeting/aws"
  version = "1.4.2"
  digest  = "sha256-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

  platform "linux/amd64" {
    manifest          = "sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
    executable_digest = "sha256:cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
  }
}
