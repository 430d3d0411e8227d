lock_format=1
plugin aws{
source="registry.example.com/fleeting/aws"
version="1.4.2"// x


digest="sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
protocols=[
5,
6,
]
platform "linux/amd64"{
manifest="sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
executable_digest="sha256:cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
}
}