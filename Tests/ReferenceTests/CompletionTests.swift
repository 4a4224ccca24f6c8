import Catalogs
import Reference
import Testing

/// What shells propose.
@Suite struct CompletionTests {
    // MARK: Words

    private static let words = CompletionWords(
        Catalog(
            versions: [:],
            filters: [
                FilterDescriptor(
                    name: "gaussian", kind: .area, summary: "Blurs", renderingVersion: 1,
                    parameters: [
                        ParameterDescriptor("radius", .number(minimum: 0, maximum: 9), summary: "Sets the radius"),
                        ParameterDescriptor("edge", .choice(["clamp"]), summary: "Chooses the edge"),
                    ]),
                FilterDescriptor(
                    name: "grain", kind: .point, summary: "Adds grain", renderingVersion: 1,
                    parameters: [
                        ParameterDescriptor("range", .number(minimum: 0, maximum: 9), summary: "Sets the range"),
                        ParameterDescriptor("radius", .number(minimum: 0, maximum: 9), summary: "Sets the radius"),
                    ]),
                FilterDescriptor(
                    name: "$(reboot)", kind: .point, summary: "Is hostile", renderingVersion: 1, parameters: []),
            ],
            formats: [
                FormatDescriptor(
                    name: "png", extensions: ["png"], canRead: true, canWrite: true, sampleFormats: [.u8],
                    holdsAlpha: true, isLossless: true, largestSide: 100, options: [])
            ]), stamp: "1")

    @Test func `filters and formats are proposed by the beginnings of their names`() {
        #expect(Self.words.filters(from: "g") == ["gaussian", "grain"])
        #expect(Self.words.filters(from: "gr") == ["grain"])
        #expect(Self.words.filters(from: "x") == [])
        #expect(Self.words.formats(from: "") == ["png"])
    }

    @Test func `a sweep is over a number, and each parameter is proposed once`() {
        #expect(Self.words.sweeps(from: "") == ["radius=", "range="])
        #expect(Self.words.sweeps(from: "rad") == ["radius="])
    }

    @Test func `a name that a shell would have to quote is not proposed`() {
        #expect(Self.words.filters(from: "$") == [])
        #expect(Self.words.filters(from: "") == ["gaussian", "grain"])
    }

    @Test func `--set gets keys with single values, those of blocks too`() {
        #expect(CompletionWords.keys(from: "ret") == ["retries="])
        #expect(CompletionWords.keys(from: "slurm.ti") == ["slurm.time="])
        #expect(
            CompletionWords.keys(from: "save") == [
                "save.metadata=", "save.background=", "save.dither=", "save.precision=", "save.depth=",
                "save.color=", "save.intent=", "save.black_point=",
                "save.set.copyright=", "save.set.creator=", "save.set.title=", "save.set.description=",
                "save.set.credit=",
                "save.set.keywords=",
            ])
        #expect(CompletionWords.keys(from: "outputs") == [])
        #expect(CompletionWords.keys(from: "filters") == [])
    }

    // MARK: Scripts

    private static let commands: [CompletionScript.Command] = [
        .init("run"), .init("queue", [.init("list"), .init("show")]),
    ]

    @Test func `bash gets the names behind help, no blank behind a sign of equality, and no line for the kernel`() {
        let generated = """
            #!/bin/bash

            _tool() {
                COMPREPLY=()
            }

            complete -o filenames -F _tool tool
            """
        let script = CompletionScript(generated, for: .bash, program: "tool", commands: Self.commands)
        #expect(
            script.text == """

                _tool() {
                    COMPREPLY=()
                }

                _tool_words() {
                    _tool "${@}"
                    if [[ "${COMP_WORDS[1]}" = help ]]; then
                        local names=''
                        case "${COMP_WORDS[*]:2:COMP_CWORD-2}" in
                        '') names='run queue' ;;
                        'queue') names='list show' ;;
                        esac
                        COMPREPLY+=($(compgen -W "${names}" -- "${2}"))
                    fi
                    # A value follows: no blank.
                    if [[ "${#COMPREPLY[@]}" -eq 1 && "${COMPREPLY[0]}" = *= ]]; then
                        compopt -o nospace
                    fi
                }

                complete -o filenames -F _tool_words tool
                """)
    }

    @Test func `zsh gets the names behind help`() {
        let generated = """
            _tool_help() {
                local -ar arg_specs=(
                    '*:subcommands:'
                )
            }
            """
        let script = CompletionScript(generated, for: .zsh, program: "tool", commands: Self.commands)
        #expect(script.text.contains("        'queue') names=(list show) ;;\n"))
        #expect(script.text.contains("'*:command:_tool_help_names'"))
        #expect(!script.text.contains("subcommands"))
    }

    @Test func `fish gets the names behind help`() {
        let script = CompletionScript("# generated", for: .fish, program: "tool", commands: Self.commands)
        #expect(
            script.text == """
                # generated
                complete -c 'tool' -n 'test (string join -- " " (commandline -opc)) = "tool help"' -fa 'run queue'
                complete -c 'tool' -n 'test (string join -- " " (commandline -opc)) = "tool help queue"' -fa 'list show'
                """)
    }

    @Test func `fish tests cheap conditions before those that read the whole command line`() {
        let generated = """
            complete -c 'tool' -f
            complete -c 'tool' -n '__tool_should_offer_completions_for_positional "tool" -eq 1' -fa 'run'
            complete -c 'tool' -n '__tool_should_offer_completions_for_positional "tool queue list" -eq 1' -fa 'a'
            complete -c 'tool' -n '__tool_should_offer_completions_for_flags_or_options "tool run" set' -l 'set'
            """
        let script = CompletionScript(generated, for: .fish, program: "tool", commands: [])
        #expect(
            script.text == """
                complete -c 'tool' -f
                complete -c 'tool' -n '__tool_should_offer_completions_for_positional "tool" -eq 1' -fa 'run'
                complete -c 'tool' -n 'contains -- list (commandline -opc)' \
                -n '__tool_should_offer_completions_for_positional "tool queue list" -eq 1' -fa 'a'
                complete -c 'tool' -n 'string match -q -- "-*" x (commandline -ct) (commandline -opc)[-1]' \
                -n 'contains -- run (commandline -opc)' \
                -n '__tool_should_offer_completions_for_flags_or_options "tool run" set' -l 'set'

                """)
    }
}
