import ExamplePictures
import Foundation
import Glibc
import Raster
import TestSupport
import Testing

/// Animations as videos, which ffmpeg writes for confined workers.
@Suite(.serialized) struct VideoJobTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        try workspace.drawOldPhotos()
    }

    private static let fade = "animate: {crossfade: {duration: 0.2, fps: 20, there_and_back: true, hold: {last: 0.5}}}"

    private func writeFade(_ format: String, _ more: String = "") throws {
        try workspace.writeManifest(
            filters: "[{thumbnail: {size: 91}}, {gaussian: {radius: 4}}]", output: "out/{stem}.\(format)",
            more: "\(Self.fade)\nexisting: update\n\(more)")
    }

    /// What ffmpeg's own tool says of the frames of a file.
    private func facts(_ name: String) async throws -> [String: String] {
        let fields =
            "codec_name,width,height,pix_fmt,color_range,color_space,color_transfer,color_primaries,r_frame_rate,nb_read_frames"
        let answer = try await Program.run(
            "/usr/bin/ffprobe",
            ["-v", "error", "-count_frames", "-show_entries", "stream=\(fields)", "-of", "default=nw=1", name],
            in: workspace)
        #expect(answer.code == 0, "\(answer.errors)")
        return Dictionary(
            answer.output.split(separator: "\n").compactMap { line in
                let parts = line.split(separator: "=", maxSplits: 1)
                return parts.count == 2 ? (String(parts[0]), String(parts[1])) : nil
            }
        ) { first, _ in first }
    }

    @Test(arguments: [("mp4", "h264", "92", "68"), ("webm", "vp9", "91", "68")])
    func `a video has all frames at a constant rate, and the colours of BT 709`(
        format: String, codec: String, width: String, height: String
    ) async throws {
        try writeFade(format, "verify: full\nreceipts: sidecar")
        #expect(try await Program.night(workspace) == NightSummary(published: 3))
        let facts = try await facts("out/a.\(format)")
        #expect(
            facts == [
                "codec_name": codec, "width": width, "height": height, "pix_fmt": "yuv420p", "color_range": "tv",
                "color_space": "bt709", "color_transfer": "iec61966-2-1", "color_primaries": "bt709",
                "r_frame_rate": "20/1",
                // Eight frames, one of which is shown for half a second more.
                "nb_read_frames": "18",
            ])
        let receipt = try #require(
            JSONSerialization.jsonObject(with: workspace.read("out/a.\(format).receipt.json")) as? [String: Any])
        let library = format == "mp4" ? "libx264" : "libvpx"
        #expect(
            (receipt["encoder"] as? String)?.wholeMatch(of: try Regex("ffmpeg \\S+, \(library) [0-9.]+")) != nil,
            "\(receipt)")
        #expect(try await Program.night(workspace) == NightSummary(skipped: 3))
    }

    @Test(arguments: ["mp4", "webm"])
    func `workers, tiles and processors make the same bytes, and a second rendering finds them`(
        format: String
    ) async throws {
        try writeFade(format, "shard: tile")
        #expect(try await Program.night(workspace, "--workers", "2").published == 3)
        let tiled = try workspace.contents(below: "out")
        try writeFade(format, "shard: frame\nverify: audit")
        let result = try await Program.run(
            Program.penumbra, ["run", "job.yaml", "--force", "--workers", "1"], in: workspace,
            environment: ["PENUMBRA_CPU": "v2"])
        #expect(result.code == 0, "\(result.errors)")
        #expect(try workspace.contents(below: "out") == tiled)
        let again = try await Program.run(
            Program.penumbra, ["verify", "--rerender", "out/a.\(format)"], in: workspace)
        #expect(again.code == 0, "\(again.output) \(again.errors)")
    }

    @Test func `videos have the pictures of the animation`() async throws {
        try workspace.writeManifest(
            filters: "[{gaussian: {radius: 4}}]", output: "out/{stem}.mp4",
            more: "animate: {crossfade: {duration: 0.1, fps: 20}}\nsave: {quality: 100}")
        #expect(try await Program.night(workspace).published == 3)
        try workspace.writeManifest(
            filters: "[{gaussian: {radius: 4}}]", output: "out/{stem}-{frame}.png",
            more: "animate: {crossfade: {duration: 0.1, fps: 20}}")
        #expect(try await Program.night(workspace).published == 9)
        for frame in 0..<3 {
            let extracted = try await Program.run(
                "/usr/bin/ffmpeg",
                [
                    "-v", "error", "-i", "out/a.mp4", "-vf", "select=eq(n\\,\(frame))", "-frames:v", "1",
                    "out/frame-\(frame + 1).png",
                ], in: workspace)
            #expect(extracted.code == 0, "\(extracted.errors)")
            let found = try PictureFiles.read("\(workspace.path)/out/frame-\(frame + 1).png").doubles
            let expected = try PictureFiles.read("\(workspace.path)/out/a-\(frame + 1).png").doubles
            #expect(found.count == expected.count)
            let error = zip(found, expected).reduce(0) { $0 + abs($1.0 - $1.1) } / Double(max(1, found.count))
            #expect(error < 3, "frame \(frame): \(error)")
        }
    }

    @Test func `an animated GIF becomes several videos at once, with its times`() async throws {
        try writeFade("gif")
        #expect(try await Program.night(workspace).published == 3)
        try workspace.write(
            """
            job: films
            inputs: out/*.gif
            filters: [{gaussian: {radius: 1}}]
            outputs: [{path: 'films/{stem}.mp4'}, {path: 'films/{stem}.webm'}]
            verify: full

            """, to: "films.yaml")
        let result = try await Program.run(Program.penumbra, ["run", "films.yaml"], in: workspace)
        #expect(result.code == 0, "\(result.errors)")
        for format in ["mp4", "webm"] {
            let facts = try await facts("films/a.\(format)")
            #expect(facts["r_frame_rate"] == "20/1")
            #expect(facts["nb_read_frames"] == "18")
        }
    }

    @Test func `one picture is no video`() async throws {
        try workspace.writeManifest(output: "out/{stem}.mp4")
        let result = try await Program.run(Program.penumbra, ["run", "job.yaml"], in: workspace)
        #expect(result.code == 1)
        #expect(
            result.errors.contains(
                "photos/a.png: is one picture, and MP4 holds frames; write 'animate', or take a format of pictures"),
            "\(result.errors)")
    }

    // MARK: ffmpeg

    @Test(arguments: ["check", "run"])
    func `without ffmpeg a job is refused, with what to install`(command: String) async throws {
        try writeFade("mp4")
        let result = try await Program.run(
            Program.penumbra, [command, "job.yaml"], in: workspace, environment: ["PENUMBRA_FFMPEG": "/nowhere/ffmpeg"])
        #expect(result.code == 65)
        #expect(
            result.errors == """
                job.yaml:4:20: error: '.mp4' cannot be written here: /nowhere/ffmpeg cannot be executed (No such file or directory)
                4 | output: out/{stem}.mp4
                  |                    ^^^
                  = install the package 'ffmpeg' (apt-get install ffmpeg), or set 'ffmpeg' to its path

                """)
    }

    @Test func `doctor says which formats need ffmpeg`() async throws {
        let result = try await Program.run(
            Program.penumbra, ["doctor"], in: workspace, environment: ["PENUMBRA_FFMPEG": "/nowhere/ffmpeg"])
        #expect(
            result.output.contains(
                "note  .mp4 cannot be written: /nowhere/ffmpeg cannot be executed (No such file or directory); install the package"
            ), "\(result.output)")
    }

    /// A program in place of ffmpeg.
    private func replaceProgram(_ script: String) throws -> [String: String] {
        try workspace.write("#!/bin/sh\n\(script)\n", to: "ffmpeg")
        chmod("\(workspace.path)/ffmpeg", 0o755)
        return ["PENUMBRA_FFMPEG": "\(workspace.path)/ffmpeg"]
    }

    @Test func `what ffmpeg says before it fails is in the message, and nothing is published`() async throws {
        try writeFade("mp4")
        let environment = try replaceProgram("echo first >&2\necho 'no such codec' >&2\nexit 3")
        let result = try await Program.run(
            Program.penumbra, ["run", "job.yaml"], in: workspace, environment: environment)
        #expect(result.code == 1)
        #expect(
            result.errors.contains("cannot be written as MP4: ffmpeg ended with exit code 3: first / no such codec"),
            "\(result.errors)")
        #expect(workspace.files(below: "out") == [])
    }

    @Test func `a film that is cut off is not published, though ffmpeg reports success`() async throws {
        try writeFade("webm")
        let environment = try replaceProgram("cat >/dev/null\necho cut >/proc/self/fd/3\nexit 0")
        let result = try await Program.run(
            Program.penumbra, ["run", "job.yaml"], in: workspace, environment: environment)
        #expect(result.code == 1)
        #expect(
            result.errors.contains("cannot be written as WebM: ffmpeg has not written the whole file"),
            "\(result.errors)")
    }

    @Test func `an ffmpeg that hangs ends with the time of its task`() async throws {
        try writeFade("mp4", "timeout: 2s\nretries: 0")
        // The sandbox would not let it write its number.
        var environment = try replaceProgram("echo $$ >\(workspace.path)/number-$$\nexec sleep 3600")
        environment["PENUMBRA_SANDBOX"] = "off"
        let result = try await Program.run(
            Program.penumbra, ["run", "job.yaml"], in: workspace, environment: environment)
        #expect(result.code == 1)
        #expect(result.errors.contains("no result within 2 s"), "\(result.errors)")
        let numbers = workspace.files(below: "").filter { $0.hasPrefix("number-") }
        #expect(!numbers.isEmpty)
        for number in try numbers.map({ try #require(pid_t($0.dropFirst("number-".count))) }) {
            // It is gone, or waits for somebody to take notice of its end.
            #expect(kill(number, 0) != 0 || isZombie(number))
        }
    }

    private func isZombie(_ process: pid_t) -> Bool {
        let status = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
        return status.split(separator: ")").last?.hasPrefix(" Z") ?? true
    }

    @Test func `ffmpeg can read and write nothing but its film`() async throws {
        try writeFade("mp4", "retries: 0")
        try workspace.write("secret", to: "secret.txt")
        let environment = try replaceProgram(
            "cat \(workspace.path)/secret.txt >&2\necho x >\(workspace.path)/written\necho still here >&2\nexit 3")
        let result = try await Program.run(
            Program.penumbra, ["run", "job.yaml"], in: workspace, environment: environment)
        #expect(result.code == 1)
        #expect(result.errors.contains("still here"), "\(result.errors)")
        #expect(!result.errors.contains("secret /"), "\(result.errors)")
        #expect(!workspace.exists("written"))
    }
}
