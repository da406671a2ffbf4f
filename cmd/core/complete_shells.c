/* The scripts for zsh and fish: both ask `perfmap complete --words`, which knows the commands'
 * tables. */
#include "complete.h"

/* In quotes PREFIX is without them, and zsh quotes what it inserts. -U: what comes fits, though
 * a name may get quotes of its own. What can go on gets no blank behind it. */
static const char zsh[] =
    "#compdef perfmap\n"
    "# zsh completion for perfmap: 'perfmap complete' knows what fits.\n"
    "_perfmap() {\n"
    "    local line text shown files=0\n"
    "    local -a open open_shown done done_shown\n"
    "    local last=$PREFIX\n"
    "    [[ -n ${compstate[quote]-} ]] || last=${(Q)PREFIX}\n"
    "    for line in \"${(@f)$(${(Q)words[1]} complete --words -- \"${(@Q)words[1,CURRENT-1]}\" "
    "\"$last\" 2>/dev/null)}\"; do\n"
    "        if [[ $line == :files ]]; then\n"
    "            files=1\n"
    "            continue\n"
    "        fi\n"
    "        text=${line%%$'\\t'*}\n"
    "        shown=$text\n"
    "        [[ $line != *$'\\t'* ]] || shown=\"$text  -- ${line#*$'\\t'}\"\n"
    "        if [[ -z $text ]]; then\n"
    "            continue\n"
    "        elif [[ $text == (*=|*[{}]*|*[:/ ]) ]]; then\n"
    "            open+=(\"$text\") open_shown+=(\"$shown\")\n"
    "        else\n"
    "            done+=(\"$text\") done_shown+=(\"$shown\")\n"
    "        fi\n"
    "    done\n"
    "    (( ! $#open )) || compadd -U -S '' -l -d open_shown -a open\n"
    "    (( ! $#done )) || compadd -U -l -d done_shown -a done\n"
    "    if (( files )); then\n"
    "        compset -P '--*='\n"
    "        _files\n"
    "    fi\n"
    "}\n"
    "if [[ ${funcstack[1]-} == _perfmap ]]; then\n"
    "    _perfmap \"$@\"\n"
    "else\n"
    "    compdef _perfmap perfmap\n"
    "fi\n";

/* fish compares with the word without its quotes, and quotes what it inserts. */
static const char fish[] =
    "# fish completion for perfmap: 'perfmap complete' knows what fits.\n"
    "function __perfmap_complete\n"
    "    set -l words (commandline -opc)\n"
    "    set -l last (commandline -ct | string replace -r '^[\\'\"]' '')\n"
    "    set -l ways ($words[1] complete --words -- $words \"$last\" 2>/dev/null)\n"
    "    if contains -- :files $ways\n"
    "        set -l head (string match -r -- '^--[^=]*=' \"$last\")\n"
    "        set -l path (string replace -r -- '^--[^=]*=' '' \"$last\")\n"
    "        for file in (__fish_complete_path \"$path\")\n"
    "            echo -- \"$head$file\"\n"
    "        end\n"
    "    else\n"
    "        string join -- \\n $ways\n"
    "    end\n"
    "end\n"
    "complete -c perfmap -f -a '(__perfmap_complete)'\n";

void complete_print_script(const struct cmd *perfmap, enum complete_shell shell, FILE *out)
{
    if (shell == COMPLETE_BASH)
        cmd_completion_print(perfmap, out);
    else
        fputs(shell == COMPLETE_ZSH ? zsh : fish, out);
}
