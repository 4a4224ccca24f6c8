import ArgumentParser
import JobModel
import Reference

struct CompletionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completion",
        abstract: "Print a script that lets your shell complete the words of penumbra.",
        discussion: """
            The Debian package installs these scripts. Without it, add the line for your shell:

              bash, in ~/.bashrc:                  source <(penumbra completion bash)
              zsh, in ~/.zshrc, after compinit:    source <(penumbra completion zsh)
              fish, in ~/.config/fish/config.fish: penumbra completion fish | source

            The shell then completes commands, options, files, folders, filters, parameters, runs, and the jobs of a service.
            """)

    @Argument(help: "The shell: bash, zsh or fish.")
    var shell: CompletionScript.Shell

    func run() throws {
        let generated = Penumbra.completionScript(for: CompletionShell(shell))
        let script = CompletionScript(
            generated, for: shell, program: "penumbra", commands: Self.commands(of: Penumbra.self))
        Console.print(script.text)
    }

    /// The commands that the help of a command lists.
    private static func commands(of command: any ParsableCommand.Type) -> [CompletionScript.Command] {
        command.configuration.subcommands.filter { $0.configuration.shouldDisplay }.map { child in
            CompletionScript.Command(child._commandName, commands(of: child))
        }
    }
}

extension CompletionScript.Shell: ExpressibleByArgument {}

extension CompletionShell {
    fileprivate init(_ shell: CompletionScript.Shell) {
        switch shell {
        case .bash: self = .bash
        case .zsh: self = .zsh
        case .fish: self = .fish
        }
    }
}
