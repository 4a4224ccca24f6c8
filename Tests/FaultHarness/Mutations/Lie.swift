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

    private static func after(_ script: String) -> String { "real \"$@\"; code=$?\n\(script)\nexit $code" }

    static let honest = Lie(name: "an honest one", check: .bytes, script: "real \"$@\"")

    static let all = [
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
            name: "believes a worker that names another file", check: .others, kind: .lieReport,
            script: after("if grep -q '^lie' faults/notes 2> /dev/null; then mv home/key \"$(first)\"; fi")),
        Lie(
            name: "believes an index that names another file", check: .others, kind: .lieIndex, seeds: 3,
            script: after("if grep -q '^lie' faults/notes 2> /dev/null; then rm -r home/folder; fi")),
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
            name: "overlooks a damaged tile", check: .found, kind: .corruptTile,
            script: after(#"printf 'damaged\tnowhere\tby hand\n' >> faults/notes"#)),
    ]
}
