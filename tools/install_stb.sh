#!/bin/sh
# install_stb.sh: the header for PNG in /usr/local/include/stb, where no package has it (containers that build wheels).
#
# One file at a commit, checked by its hash; the build needs it, wheels do not.
set -eu
folder=/usr/local/include/stb
commit=31c1ad37456438565541f4919958214b6e762fb4
hash=cbd5f0ad7a9cf4468affb36354a1d2338034f2c12473cf1a8e32053cb6914a05
mkdir -p "$folder"
curl --fail --silent --show-error --location --output "$folder/stb_image_write.h" \
    "https://raw.githubusercontent.com/nothings/stb/$commit/stb_image_write.h"
echo "$hash  $folder/stb_image_write.h" | sha256sum --check --quiet
