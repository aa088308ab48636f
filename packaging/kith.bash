# SPDX-License-Identifier: BSD-3-Clause
#
# Completion of the command kith for bash: verbs from its help, options from the usage of a verb,
# files. zsh reads it after `autoload -U bashcompinit && bashcompinit`.
_kith()
{
    local word=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]} options
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "$(kith --help | sed -n '/^$/,/^$/s/^  kith \([a-z]*\) .*/\1/p')
                                 --help --version" -- "$word"))
    elif [[ $word == -* ]]; then
        options=$(kith "$verb" --usage 2>/dev/null | grep -oE '\[--[a-z-]+=?' | tr -d '[')
        COMPREPLY=($(compgen -W "$options" -- "$word"))
        [[ ${COMPREPLY[*]} == *= ]] && compopt -o nospace
    else
        COMPREPLY=($(compgen -f -- "$word"))
    fi
}
complete -o filenames -F _kith kith
