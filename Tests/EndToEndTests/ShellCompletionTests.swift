import Foundation
import Testing

/// What shells propose, asked through the shells.
@Suite(.serialized) struct ShellCompletionTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
    }

    private func script(for shell: String) async throws -> String {
        let result = try await Program.run("completion", shell, in: workspace)
        #expect(result.code == 0, "\(result.errors)")
        return result.output
    }

    /// The proposals of bash for a line whose last word is being written.
    private func proposals(_ words: [String]) async throws -> [String] {
        try workspace.write(try await script(for: "bash"), to: "penumbra.bash")
        let asking = """
            source ./penumbra.bash
            COMP_WORDS=("$@")
            COMP_CWORD=$(($# - 1))
            COMP_LINE="$*"
            COMP_POINT=${#COMP_LINE}
            _penumbra_words "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}" 2>/dev/null
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let result = try await Program.run(
            "/bin/bash", ["-c", asking, "bash", Program.penumbra] + words, in: workspace,
            environment: ["XDG_CACHE_HOME": "\(workspace.path)/cache"])
        return result.output.split(separator: "\n").map(String.init)
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func `a shell accepts its script`(shell: String) async throws {
        let program = "/usr/bin/\(shell)"
        try workspace.write(try await script(for: shell), to: "script")
        let result = try await Program.run(program, ["-n", "script"], in: workspace)
        #expect(result.code == 0, "\(result.errors)")
        #expect(result.errors == "")
    }

    @Test func `another shell is refused`() async throws {
        let result = try await Program.run("completion", "tcsh", in: workspace)
        #expect(result.code == 64)
        #expect(result.errors.contains("'tcsh'"))
    }

    @Test func `commands are proposed, behind help too`() async throws {
        #expect(try await proposals(["unbl"]) == ["unblur"])
        #expect(try await proposals(["help", "output"]) == ["output-names"])
        #expect(try await proposals(["help", "queue", "can"]) == ["cancel"])
        #expect(try await proposals(["completion", ""]) == ["bash", "zsh", "fish"])
    }

    @Test func `fish proposes commands behind help`() async throws {
        try workspace.write(try await script(for: "fish"), to: "penumbra.fish")
        let result = try await Program.run(
            "/usr/bin/fish", ["--no-config", "-c", "source penumbra.fish; complete -C 'penumbra help queue can'"],
            in: workspace, environment: ["HOME": workspace.path])
        #expect(result.output == "cancel\n", "\(result.errors)")
    }

    @Test func `fish proposes commands and options where they belong`() async throws {
        try workspace.write(try await script(for: "fish"), to: "penumbra.fish")
        let asking = """
            source penumbra.fish
            for line in 'penumbra unbl' 'penumbra run --work' 'penumbra queue list --al' 'penumbra run --al'
                complete -C $line | string split -f 1 \\t
            end
            """
        let result = try await Program.run(
            "/usr/bin/fish", ["--no-config", "-c", asking], in: workspace, environment: ["HOME": workspace.path])
        #expect(result.output == "unblur\n--workers\n--all\n--allow-empty\n--allow-gone\n", "\(result.errors)")
    }

    @Test func `filters, parameters and keys are proposed`() async throws {
        #expect(try await proposals(["filters", "gau"]) == ["gaussian"])
        #expect(try await proposals(["apply", "thumb"]) == ["thumbnail"])
        #expect(try await proposals(["preview", "job.yaml", "--sweep", "exp"]) == ["exposure="])
        #expect(try await proposals(["run", "job.yaml", "--set", "ret"]) == ["retries="])
    }

    @Test func `folders and manifests are proposed where they belong`() async throws {
        try FileManager.default.createDirectory(
            atPath: "\(workspace.path)/state", withIntermediateDirectories: true)
        try workspace.write("job: a\n", to: "night.yaml")
        try workspace.write("a", to: "night.txt")
        #expect(try await proposals(["run", "ni"]) == ["night.yaml"])
        #expect(try await proposals(["run", "night.yaml", "--state-dir", "sta"]) == ["state"])
    }

    @Test func `runs are proposed by their names, and jobs by theirs`() async throws {
        try workspace.drawPhotos()
        try workspace.writeManifest()
        _ = try await Program.run("run", "--run", "first-night", "job.yaml", in: workspace)
        #expect(try await proposals(["show", "first"]) == ["first-night"])
        #expect(try await proposals(["show", "te"]) == ["test"])
    }

    @Test func `names of filters come from a file, and from a worker if there is none`() async throws {
        #expect(try await proposals(["filters", "gau"]) == ["gaussian"])
        let file = "cache/penumbra/completion.json"
        let kept = try #require(String(data: workspace.read(file), encoding: .utf8))
        try workspace.write(kept.replacing("gaussian", with: "gauche"), to: file)
        #expect(try await proposals(["filters", "gau"]) == ["gauche"])
        // The file belongs to another installation, or is damaged.
        try workspace.write(kept.replacing("penumbra-worker", with: "other"), to: file)
        #expect(try await proposals(["filters", "gau"]) == ["gaussian"])
        try workspace.write("{", to: file)
        #expect(try await proposals(["filters", "gau"]) == ["gaussian"])
    }

    @Test func `what is wrong leads to no proposals, and to no messages`() async throws {
        let result = try await Program.run(
            Program.penumbra, ["---completion", "filters", "--", "positional@0", "2", "0", "penumbra", "filters", ""],
            in: workspace,
            environment: [
                "PENUMBRA_WORKER": "/nowhere/penumbra-worker", "XDG_CACHE_HOME": "\(workspace.path)/cache",
            ])
        #expect(result.output.trimmingCharacters(in: .whitespacesAndNewlines) == "")
        #expect(result.errors == "")
    }
}
