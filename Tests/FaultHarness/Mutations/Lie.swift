/// A `penumbra` that does one thing wrong, as a shell script around the real one.
struct Lie {
    let name: String
    /// What has to find it.
    let check: Check
    var kind = ScenarioKind.calm
    /// How many seeds are tried: some faults have to come at the right moment.
    var seeds: UInt64 = 1
    let script: String

    /// - Parameter real: the program that does nothing wrong.
    func wrapper(of real: String) -> String {
        """
        #!/bin/sh
        cd "$\(ProcessTable.mark)" || exit 1
        first() { find out -name 'p*' -type f | sort | head -n 1; }
        REAL='\(real)'
        real() { "$REAL" "$@"; }
        \(script)

        """
    }

    /// Does wrong once a lie was told, until all is made again after the lies.
    ///
    /// - Parameter script: finds `lied` to be true or false.
    private static func afterLie(_ script: String) -> String {
        """
        lied() { grep -q '^lie' faults/notes 2> /dev/null; }
        case "$*" in *--force*) touch faults/again;; esac
        if [ -e faults/again ] || [ "$1" = verify ]; then exec "$REAL" "$@"; fi
        \(script)
        """
    }

    /// Of each kind of lies a program that says 0 and has removed an output, and of those after which there is work to do one that
    /// says 0 and has done nothing.
    private static let careless: [Lie] =
        [.lieReport, .lieGreeting, .lieFile, .lieShardReport].map { kind in
            Lie(
                name: "removes an output after \(kind.rawValue) and says 0", check: .bytes, kind: kind, seeds: 12,
                script: afterLie("real \"$@\"; code=$?; if lied; then rm -f \"$(first)\"; code=0; fi; exit $code"))
        }
        + [.lieRun, .lieIndex, .lieReceipt, .lieShard].map { kind in
            Lie(
                name: "removes an output after \(kind.rawValue) and says 0", check: .bytes, kind: kind, seeds: 12,
                script: afterLie("lied || exec \"$REAL\" \"$@\"; real \"$@\"; rm -f \"$(first)\"; exit 0"))
        }
        + [.lieRun, .lieShard].map { kind in
            Lie(
                name: "does nothing after \(kind.rawValue) and says 0", check: .bytes, kind: kind, seeds: 12,
                script: afterLie("lied || exec \"$REAL\" \"$@\"; exit 0"))
        }

    /// Of the kinds before which there may be older outputs: one of these stays, and the program says 0.
    private static let stale: [Lie] = [.lieReport, .lieFile].map { kind in
        Lie(
            name: "keeps an older output after \(kind.rawValue) and says 0", check: .bytes, kind: kind, seeds: 24,
            script: """
                if [ ! -e faults/old ] && [ -n "$(first)" ]; then cp -r out faults/old; fi
                \(afterLie(
                    "lied || exec \"$REAL\" \"$@\"; real \"$@\"; f=$(first); old=\"faults/old/${f#out/}\"; "
                        + "if [ -e \"$old\" ]; then cp \"$old\" \"$f\"; fi; exit 0"))
                """)
    }

    /// The first path of the user's other files that a lie has named.
    private static let named =
        #"$(sed -n "s|^lie.* became \($PWD/home/[^[:cntrl:]]*\).*|\1|p" faults/notes 2> /dev/null | head -n 1)"#

    private static func after(_ script: String) -> String { "real \"$@\"; code=$?\n\(script)\nexit $code" }

    static let honest = Lie(name: "an honest one", check: .bytes, script: "real \"$@\"")

    static let all =
        careless + stale + [
            Lie(name: "cuts an output", check: .bytes, script: after("truncate -s -1 \"$(first)\"")),
            Lie(
                name: "changes bytes of an output", check: .bytes,
                script: after("printf PENUMBRA | dd of=\"$(first)\" bs=1 seek=200 conv=notrunc 2>/dev/null")),
            Lie(name: "loses an output", check: .bytes, script: after("rm \"$(first)\"")),
            Lie(
                name: "writes an output in place", check: .moments,
                script: "mkdir -p out; head -c 99 /dev/zero > out/p0x.png; sleep 0.1; rm out/p0x.png; real \"$@\""),
            Lie(name: "leaves a temporary file", check: .strays, script: after("echo > out/.penumbra-left-1")),
            Lie(name: "leaves a run's folder", check: .runFolders, script: after("mkdir -p state/runs/left")),
            Lie(
                name: "leaves a process", check: .orphans,
                script: after("setsid sleep 60 > /dev/null 2>&1 &")),
            Lie(name: "touches an input", check: .inputs, script: after("echo >> photos/$(ls photos | head -n 1)")),
            Lie(
                name: "believes a worker that names another file", check: .others, kind: .lieReport, seeds: 20,
                script: after("f=\(named); if [ -e \"$f\" ]; then rm -r \"$f\"; fi")),
            Lie(
                name: "removes others' files once an index lies", check: .others, kind: .lieIndex, seeds: 3,
                script: after("if grep -q '^lie' faults/notes 2> /dev/null; then rm -r home/folder; fi")),
            Lie(
                name: "follows a link that took the place of the outputs", check: .inputs, kind: .folderSwap, seeds: 8,
                script: after("if [ -L out ]; then for f in out/*.p*; do echo >> \"$f\"; break; done; fi")),
            Lie(
                name: "loses originals once their store lies", check: .originals, kind: .lieOriginal, seeds: 8,
                script: after("if grep -q '^lie' faults/notes 2> /dev/null; then rm -rf state/originals/objects; fi")),
            Lie(
                name: "loses originals once a worker lies", check: .originals, kind: .lieBlurReport, seeds: 8,
                script: after("if grep -q '^lie' faults/notes 2> /dev/null; then rm -rf state/originals/objects; fi")),
            Lie(
                name: "renders nothing while it watches", check: .inTime, kind: .fewWatches,
                script: "case \"$*\" in *--watch*) exec sleep 60;; esac; real \"$@\""),
            Lie(
                name: "ends for want of memory without a word", check: .causes, kind: .fewBytes,
                script: "if grep -q penumbra-faults- /proc/self/cgroup; then exit 69; fi; real \"$@\""),
            Lie(
                name: "calls every picture blurred", check: .originals, kind: .lieOriginal,
                script: "if [ \"$1\" = is-blurred ]; then exit 0; fi; real \"$@\""),
            // The program itself does nothing wrong: nobody reads such an output back, and only the harness can see it.
            Lie(
                name: "publishes what a lying worker has written", check: .bytes, kind: .believedLie, seeds: 3,
                script: "real \"$@\""),
            Lie(name: "touches a foreign file", check: .foreign, script: after("echo >> out/notes.txt")),
            Lie(name: "makes everything again", check: .upToDate, script: "real \"$@\" --force"),
            Lie(name: "fails without need", check: .exitCode, script: "real \"$@\"; exit 1"),
            Lie(name: "does not end", check: .inTime, script: "real \"$@\"; exec sleep 60"),
            Lie(
                name: "fails without a cause", check: .causes,
                script: #"echo '{"event":"frame","state":"failed","input":"a"}'; real "$@""#),
            Lie(
                name: "keeps a lock", check: .locks,
                script: after("setsid flock state/locks/left sleep 60 > /dev/null 2>&1 &")),
            Lie(name: "cuts a receipt", check: .receipts, script: after("truncate -s -9 \"$(first).receipt.json\"")),
            Lie(
                name: "forgets a receipt", check: .receipts,
                script: after("rm \"$(first).receipt.json\"")),
            Lie(
                name: "slanders an output", check: .verify,
                script: "if [ \"$1\" = verify ]; then printf x >> \"$(first)\"; fi; real \"$@\""),
            Lie(
                name: "syncs nothing", check: .moments, kind: .powerLoss, seeds: 20,
                script: "export PENUMBRA_FAULTS_FORGETFUL=1; exec \"$REAL\" \"$@\""),
            Lie(
                name: "hands a job in twice", check: .once, kind: .serviceKill,
                script: """
                    if [ "$1" = submit ] && [ ! -e faults/twice ]; then
                        "$REAL" submit job.yaml --key another > /dev/null 2>&1 && touch faults/twice
                    fi
                    real "$@"
                    """),
            Lie(
                name: "overlooks a damaged tile", check: .found, kind: .corruptTile,
                script: after(#"printf 'damaged\tnowhere\tby hand\n' >> faults/notes"#)),
        ]
}
