import ExamplePictures
import Foundation
import Glibc
import Raster
import TestSupport
import Testing

/// Clips whose frames go through the filters, and into videos with the clips' sound.
@Suite(.serialized) struct ClipJobTests {
    let workspace: Workspace

    init() throws {
        workspace = try Workspace()
    }

    private func ffmpeg(_ arguments: String...) async throws {
        let result = try await Program.run("/usr/bin/ffmpeg", ["-v", "error", "-y"] + arguments, in: workspace)
        #expect(result.code == 0, "\(result.errors)")
    }

    /// Fifteen frames of 96 × 64 pixels, with sound in German.
    private func makeClip(
        _ name: String = "clips/a.mp4", rate: String = "30000/1001", video: [String] = ["-c:v", "libx264"],
        sound: String = "aac"
    ) async throws {
        try FileManager.default.createDirectory(atPath: "\(workspace.path)/clips", withIntermediateDirectories: true)
        let result = try await Program.run(
            "/usr/bin/ffmpeg",
            [
                "-v", "error", "-y", "-f", "lavfi", "-i",
                "testsrc2=size=96x64:rate=\(rate),trim=end_frame=15,gblur=sigma=4",
            ]
                + ["-f", "lavfi", "-i", "sine=440:duration=0.5", "-pix_fmt", "yuv420p"] + video
                + ["-c:a", sound, "-metadata:s:a:0", "language=deu", name], in: workspace)
        #expect(result.code == 0, "\(result.errors)")
    }

    private func writeJob(
        inputs: String = "clips/*", output: String = "out/{stem}.mp4", filters: String = "[{gaussian: {radius: 3}}]",
        _ more: String = ""
    ) throws {
        try workspace.write(
            "job: job\ninputs: \(inputs)\nfilters: \(filters)\noutput: \(output)\n\(more)\n", to: "job.yaml")
    }

    /// What ffprobe says of each stream of a file.
    private func facts(_ name: String) async throws -> [String] {
        let fields =
            "codec_name,width,height,color_space,color_transfer,r_frame_rate,nb_read_packets:stream_tags=language"
        let answer = try await Program.run(
            "/usr/bin/ffprobe",
            ["-v", "error", "-count_packets", "-show_entries", "stream=\(fields)", "-of", "csv=p=0", name],
            in: workspace)
        #expect(answer.code == 0, "\(answer.errors)")
        return answer.output.split(separator: "\n").map(String.init)
    }

    /// The digests of all packets of sound, with their times.
    private func sound(_ name: String) async throws -> String {
        let answer = try await Program.run(
            "/usr/bin/ffmpeg", ["-v", "error", "-i", name, "-map", "0:a", "-c", "copy", "-f", "framecrc", "-"],
            in: workspace)
        #expect(answer.code == 0, "\(answer.errors)")
        return answer.output
    }

    private func frame(_ number: Int, of name: String) async throws -> [Double] {
        try await ffmpeg("-i", name, "-vf", "select=eq(n\\,\(number))", "-frames:v", "1", "frame.png")
        return try PictureFiles.read("\(workspace.path)/frame.png").doubles
    }

    private func error(_ a: [Double], _ b: [Double]) -> Double {
        #expect(a.count == b.count)
        return zip(a, b).reduce(0) { $0 + abs($1.0 - $1.1) } / Double(max(1, a.count))
    }

    // MARK: Videos

    @Test func `a clip keeps its frames, its rate and its sound`() async throws {
        try await makeClip()
        try writeJob(filters: "[{levels: {}}]", "save: {quality: 100}\nverify: full\nreceipts: sidecar")
        #expect(try await Program.night(workspace) == NightSummary(published: 1))
        let facts = try await facts("out/a.mp4")
        #expect(facts.first == "h264,96,64,bt709,bt709,30000/1001,15,und", "\(facts)")
        #expect(facts.last?.hasPrefix("aac,") == true && facts.last?.hasSuffix(",deu") == true, "\(facts)")
        #expect(try await sound("out/a.mp4") == sound("clips/a.mp4"))
        for number in [0, 7, 14] {
            #expect(try await error(frame(number, of: "clips/a.mp4"), frame(number, of: "out/a.mp4")) < 4)
        }
        let receipt = try #require(
            JSONSerialization.jsonObject(with: workspace.read("out/a.mp4.receipt.json")) as? [String: Any])
        #expect((receipt["encoder"] as? String)?.hasPrefix("ffmpeg ") == true)
        #expect(try await Program.night(workspace) == NightSummary(skipped: 1))
    }

    @Test func `a region of all frames is blurred, and the rest stays`() async throws {
        try await makeClip()
        try workspace.write(
            """
            job: job
            inputs: clips/*
            filters:
              - gaussian:
                  radius: 12
                  within: [{x: 0, y: 0, width: 48, height: 64}]
            output: out/{stem}.mp4
            save: {quality: 100}

            """, to: "job.yaml")
        #expect(try await Program.night(workspace) == NightSummary(published: 1))
        let (before, after) = (try await frame(9, of: "clips/a.mp4"), try await frame(9, of: "out/a.mp4"))
        func half(_ samples: [Double], _ columns: Range<Int>) -> [Double] {
            let channels = samples.count / (96 * 64)
            return samples.indices.filter { columns.contains($0 / channels % 96) }.map { samples[$0] }
        }
        #expect(error(half(before, 0..<40), half(after, 0..<40)) > 10)
        #expect(error(half(before, 56..<96), half(after, 56..<96)) < 4)
    }

    @Test func `workers, runs and processors make the same bytes`() async throws {
        try await makeClip()
        try await makeClip("clips/b.mov", video: ["-c:v", "libx264", "-bf", "2"])
        try writeJob("verify: audit")
        #expect(try await Program.night(workspace, "--workers", "2").published == 2)
        let first = try workspace.contents(below: "out")
        let result = try await Program.run(
            Program.penumbra, ["run", "job.yaml", "--force", "--workers", "1"], in: workspace,
            environment: ["PENUMBRA_CPU": "v2"])
        #expect(result.code == 0, "\(result.errors)")
        #expect(try workspace.contents(below: "out") == first)
        let again = try await Program.run(Program.penumbra, ["verify", "--rerender", "out/a.mp4"], in: workspace)
        #expect(again.code == 0, "\(again.output) \(again.errors)")
    }

    @Test func `a clip on its side is turned upright`() async throws {
        try await makeClip("flat.mov")
        try FileManager.default.createDirectory(atPath: "\(workspace.path)/clips", withIntermediateDirectories: true)
        try await ffmpeg("-i", "flat.mov", "-c", "copy", "-metadata:s:v:0", "rotate=90", "clips/a.mov")
        try writeJob()
        #expect(try await Program.night(workspace) == NightSummary(published: 1))
        #expect(try await facts("out/a.mp4").first?.hasPrefix("h264,64,96,") == true)
    }

    @Test func `a WebM keeps sound that it holds, and otherwise says how to go on`() async throws {
        try await makeClip("clips/a.webm", video: ["-c:v", "libvpx-vp9"], sound: "libopus")
        try writeJob(output: "out/{stem}.webm")
        #expect(try await Program.night(workspace) == NightSummary(published: 1))
        #expect(try await facts("out/a.webm").map { $0.prefix { $0 != "," } } == ["vp9", "opus"])
        try await makeClip("clips/b.mp4")
        let result = try await Program.run("run", "job.yaml", in: workspace)
        #expect(result.code == 1)
        #expect(
            result.errors.contains(
                "clips/b.mp4: has sound in the codec 'aac', which WebM does not hold; it holds opus, vorbis, and "
                    + "'save: {sound: false}' leaves the sound out"), "\(result.errors)")
        try writeJob(output: "out/{stem}.webm", "save: {sound: false}")
        #expect(try await Program.night(workspace, "--force").published == 2)
        #expect(try await facts("out/b.webm").count == 1)
    }

    @Test func `a clip of a variable rate keeps its length`() async throws {
        try await makeClip("all.mp4", rate: "25")
        try await ffmpeg(
            "-i", "all.mp4", "-an", "-vf", "select=not(eq(mod(n\\,5)\\,2))", "-vsync", "vfr", "-c:v", "libx264", "v.mp4"
        )
        try writeJob(inputs: "v.mp4")
        #expect(try await Program.night(workspace) == NightSummary(published: 1))
        #expect(try await facts("out/v.mp4") == ["h264,96,64,bt709,bt709,24/1,14,und"])
    }

    @Test func `'animate' takes the first frame of a clip, without sound`() async throws {
        try await makeClip()
        try writeJob("animate: {crossfade: {duration: 0.2, fps: 20}}")
        #expect(try await Program.night(workspace) == NightSummary(published: 1))
        let facts = try await facts("out/a.mp4")
        #expect(facts.count == 1 && facts.first?.contains(",20/1,5,") == true, "\(facts)")
    }

    @Test func `a preview shows the first frame`() async throws {
        try await makeClip()
        try writeJob(filters: "[{levels: {}}]")
        let result = try await Program.run("preview", "job.yaml", "-o", "p.png", in: workspace)
        #expect(result.code == 0, "\(result.errors)")
        let shown = try PictureFiles.read("\(workspace.path)/p.png").doubles
        #expect(try await error(frame(0, of: "clips/a.mp4"), shown) < 4)
    }

    // MARK: Refusals

    @Test(arguments: [("out/{stem}.jpg", "JPEG"), ("out/{stem}-{frame}.png", "PNG"), ("out/{stem}.gif", "GIF")])
    func `a clip becomes no picture`(output: String, title: String) async throws {
        try await makeClip()
        try writeJob(output: output)
        let result = try await Program.run("run", "job.yaml", in: workspace)
        #expect(result.code == 1)
        #expect(
            result.errors.contains(
                "clips/a.mp4: is a clip, and \(title) is no video; take .mp4 or .webm, or take pictures out of it with ffmpeg first"
            ), "\(result.errors)")
    }

    @Test func `a folder of pictures and clips is a folder of pictures for other outputs`() async throws {
        try await makeClip()
        try workspace.draw("clips/a.png", width: 40, height: 30)
        try writeJob(inputs: "clips", output: "out/{stem}.jpg")
        #expect(try await Program.night(workspace) == NightSummary(published: 1))
    }

    @Test func `a damaged clip is not published`() async throws {
        try await makeClip("whole.mp4")
        var bytes = try workspace.read("whole.mp4")
        let data = try #require(bytes.firstRange(of: Data("mdat".utf8)))
        for index in 0..<400 { bytes[data.upperBound + 1500 + index] = UInt8(truncatingIfNeeded: 7 * index) }
        try workspace.write(bytes, to: "clips/a.mp4")
        try workspace.write(try workspace.read("whole.mp4").dropLast(5000), to: "clips/b.mp4")
        try writeJob()
        let result = try await Program.run("run", "job.yaml", in: workspace)
        #expect(result.code == 1)
        #expect(result.errors.contains("clips/a.mp4: broken MP4: "), "\(result.errors)")
        #expect(result.errors.contains("clips/b.mp4: broken MP4: "), "\(result.errors)")
        #expect(workspace.files(below: "out") == [])
    }

    @Test func `without ffmpeg or ffprobe a clip fails with what to install, and a later run tries it again`()
        async throws
    {
        try await makeClip()
        try writeJob(output: "out/{stem}.png")
        let result = try await Program.run(
            "run", "job.yaml", in: workspace, environment: ["PENUMBRA_FFMPEG": "/nowhere/ffmpeg"])
        #expect(
            result.errors.contains(
                "clips/a.mp4: MP4, which ffmpeg decodes; install the package 'ffmpeg' (apt-get install ffmpeg), or set 'ffmpeg' to its path"
            ), "\(result.errors)")
        try writeJob()
        try FileManager.default.createSymbolicLink(
            atPath: "\(workspace.path)/ffmpeg", withDestinationPath: "/usr/bin/ffmpeg")
        let other = try await Program.run(
            "run", "job.yaml", in: workspace, environment: ["PENUMBRA_FFMPEG": "\(workspace.path)/ffmpeg"])
        #expect(
            other.errors.contains(
                "MP4, which ffmpeg decodes; \(workspace.path)/ffprobe cannot be executed (No such file or directory); install"
            ),
            "\(other.errors)")
        #expect(try await Program.night(workspace) == NightSummary(published: 1))
    }

    @Test func `a clip in place of a mask is refused by 'check'`() async throws {
        try await makeClip()
        try writeJob(filters: "[{gaussian: {radius: 3, mask: clips/a.mp4}}]")
        let result = try await Program.run("check", "job.yaml", in: workspace)
        #expect(result.code == 65)
        #expect(
            result.errors.contains(
                "MP4 with moving pictures, which Penumbra does not read; a picture is needed here"), "\(result.errors)")
    }

    // MARK: The sandbox

    @Test func `ffprobe can read nothing but the clip, and its lies are checked`() async throws {
        try await makeClip()
        try workspace.write("secret", to: "secret.txt")
        try writeJob("retries: 0")
        try workspace.write("#!/bin/sh\nexit 3\n", to: "ffmpeg")
        try workspace.write(
            "#!/bin/sh\ncat \(workspace.path)/secret.txt >&2\necho x >\(workspace.path)/written\necho still here >&2\nexit 3\n",
            to: "ffprobe")
        for name in ["ffmpeg", "ffprobe"] { chmod("\(workspace.path)/\(name)", 0o755) }
        let environment = ["PENUMBRA_FFMPEG": "\(workspace.path)/ffmpeg"]
        let result = try await Program.run("run", "job.yaml", in: workspace, environment: environment)
        #expect(result.errors.contains("still here"), "\(result.errors)")
        #expect(!result.errors.contains("secret /"), "\(result.errors)")
        #expect(!workspace.exists("written"))
        try workspace.write("#!/bin/sh\nexec yes '{'\n", to: "ffprobe")
        let endless = try await Program.run("run", "job.yaml", "--force", in: workspace, environment: environment)
        #expect(endless.errors.contains("clips/a.mp4: broken MP4: ffprobe says too much of it"), "\(endless.errors)")
    }
}
