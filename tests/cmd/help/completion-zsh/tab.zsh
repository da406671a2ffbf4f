# A zsh at a terminal in which somebody presses Tab: prints what stands on the line then. zsh -f tab.zsh FOLDER LINE...
zmodload zsh/zpty
zpty asked zsh -f -i
press() { # LINE
    local seen
    zpty -w -n asked "$1"$'\x18'
    zpty -r asked seen '*<<*>>*' || return 1
    seen=${seen##*<<}
    print -r -- "$1 => ${seen%%>>*}"
}
zpty -w asked "unsetopt zle_bracketed_paste 2>/dev/null; PS1='' PS2='' RPS1='' fpath=(${(q)1} \$fpath)
autoload -U compinit && compinit -u -D
LISTMAX=10000
tab() { zle complete-word; print -r -- \"<<\$BUFFER>>\"; BUFFER=''; zle -I; }
zle -N tab; bindkey '^X' tab; print ready'!'"
zpty -r asked seen '*ready!*'
shift
for line in "$@"; do press "$line"; done
zpty -d asked
