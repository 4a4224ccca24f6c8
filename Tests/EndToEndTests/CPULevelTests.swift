import Foundation
import Kernels
import Testing

/// The CPU's instructions, and what the C library makes of them, change no byte of an output.
@Suite(.serialized) struct CPULevelTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.drawPhotos()
    }

    @Test func `outputs are the same with every level, and with a C library that knows no FMA or AVX2`() async throws {
        let filters = """
            [{gaussian: {radius: 6}}, {motion: {radius: 9, angle: 33}}, {gaussian: {radius: 1.3, light: linear}}]
            """
        try workspace.writeManifest(filters: filters)
        var environments: [[String: String]] = CPULevel.supported.map { [CPULevel.variable: $0.rawValue] }
        environments.append(["GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX2,-AVX,-FMA,-FMA4"])
        environments.append([:])
        var variants: [[Data]] = []
        for environment in environments {
            let result = try await Program.run("run", "job.yaml", in: workspace, environment: environment)
            #expect(result.code == 0, "\(environment): \(result.errors)")
            variants.append(try ["a", "b", "c"].map { try workspace.read("out/\($0).png") })
        }
        for variant in variants { #expect(variant == variants[0]) }
    }

    @Test func `a level that the CPU lacks stops every command with a message`() async throws {
        try workspace.writeManifest()
        let result = try await Program.run("run", "job.yaml", in: workspace, environment: ["PENUMBRA_CPU": "v9"])
        #expect(result.code == 69)
        let levels = CPULevel.supported.map(\.rawValue).joined(separator: ", ")
        let message = "PENUMBRA_CPU: this CPU cannot run 'v9'; it has \(levels) — unset it to use the best"
        #expect(result.errors.contains(message), "\(result.errors)")
        #expect(!workspace.exists("out"))
    }

    @Test func `doctor tells the level in use`() async throws {
        let level = CPULevel.supported[0]
        let result = try await Program.run(
            "doctor", in: workspace, environment: ["PENUMBRA_CPU": level.rawValue])
        #expect(result.output.contains("cpu \(level.rawValue)"), "\(result.output)")
    }
}
