source perfmap.fish
for line in 'perfmap pl' 'perfmap run --mod' 'perfmap run --mode=e' 'perfmap run --mode tr' 'perfmap help du' 'perfmap report q.p' \
        'perfmap run --output=q.p' 'perfmap run -- ls q.p' "perfmap ask '{swe" "perfmap ask '{sweep Ex" "perfmap ask '{sweep Executes} th" "perfmap run --ask '{sweep Ex"
    echo "$line =>"
    complete -C "$line" | string replace -r '^' '    '
end
