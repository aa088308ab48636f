#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Write kith.1 and a page for each verb from the command's own help:  man.sh KITH FOLDER VERSION
set -eu
kith=$1 folder=$2 version=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$folder"

# Help as help2man reads it: headings unindented, two spaces before what an option does, folded names
# of options unfolded, a $ before commands, one exit status on a line.
cat >"$work/adapt" <<'SED'
s/^ \([A-Z][a-z ]*:\)$/\1/
s/^\( *-[^ ]*=[^ ]*\) \([^ ].*\)$/\1  \2/
:unfold
s/^\(.*--\)\([a-z-]*\){\([a-z]*\),\([a-z,]*\)}\([^ ]*\)  /\1\2\3\5, --\2{\4}\5  /
t unfold
s/^\(  --.*\){\([a-z]*\)}/\1\2/
s/^\(Example\|Try it\):$/Examples:\n/
s/^  \(kith [a-z]* .*[.]\)/  $ \1/
s/^ *\([0-9][0-9]*\)  \(.*[^ ]\)   *\([0-9][0-9]*\)  \(.*\)$/  \1  \2\n  \3  \4/
SED

# page NAME SUMMARY [VERB]: help2man runs a program of one word, so each verb gets one. Its first line
# is the usage, which names all options.
page()
{
    name=$1 summary=$2 verb=${3-}
    cat >"$work/$name" <<SH
#!/bin/sh
if [ "$verb" ]; then "$kith" $verb --usage | tr -s '\\n ' '  '; echo; fi
"$kith" $verb --help | sed "${verb:+1d}" | sed -f "$work/adapt"
SH
    chmod +x "$work/$name"
    help2man --no-info --name "$summary" --version-string "$version" --manual "User Commands" \
        --source "kith $version" --output "$folder/$name.1" "$work/$name"
}

page kith "which particles are near each other?"
"$kith" --help | sed -n '/^$/,/^$/s/^  kith \([a-z]*\)  */\1 /p' >"$work/verbs"
while read -r verb summary; do
    page "kith-$verb" "$summary" "$verb"
done <"$work/verbs"
