import Catalogs
import ExamplePictures
import Foundation
import Geometry
import Glibc
import Queueing
import Raster
import ServiceAPI
import TestSupport
import Testing

/// Pictures of frames, as a page asks for them.
@Suite(.serialized) struct PictureTests {
    private let farm: Farm

    init() throws {
        farm = try Farm()
        try farm.draw(2)
        try farm.writeManifest()
    }

    private struct Answer {
        let status: Int
        let type: String
        /// The path of the file with the body.
        let file: String
        let headers: String

        var text: String { (try? String(contentsOfFile: file, encoding: .utf8)) ?? "" }
        var size: Int { (try? FileManager.default.attributesOfItem(atPath: file)[.size] as? Int) ?? 0 }

        /// A member of a problem that is a text.
        func value(_ name: String) -> String? {
            let object = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
            return object?[name].map { "\($0)" }
        }
    }

    /// - Parameter path: below `/api/v1`.
    private func ask(_ path: String, body: String? = nil, headers: [String] = [], socket: String? = nil) async throws
        -> Answer
    {
        let name = "answer-\(UUID().uuidString)"
        var arguments = ["-s", "--unix-socket", socket ?? farm.serviceFolder.controlSocket]
        arguments += ["-o", name, "-D", name + ".head", "-w", "%{http_code} %{content_type}"]
        for header in headers { arguments += ["-H", header] }
        if let body { arguments += ["-d", body, "-H", "Content-Type: application/json"] }
        let result = try await farm.run("/usr/bin/curl", arguments + ["http://localhost/api/v1\(path)"])
        let words = result.output.split(separator: " ", maxSplits: 1).map(String.init)
        return Answer(
            status: try #require(words.first.flatMap { Int($0) }, "\(result.errors)\(farm.log)"),
            type: words.count > 1 ? words[1] : "", file: farm.folder.file(name), headers: try farm.read(name + ".head"))
    }

    /// Hands the job in, and waits for its end.
    ///
    /// - Returns: the path of its run's frames.
    private func render(_ job: Int = 1, manifest: String = "night.yaml") async throws -> String {
        #expect(try await farm.penumbra("submit", manifest).code == 0)
        return "/runs/\(try #require(try await farm.waitForEnd(of: job).run))/frames"
    }

    private func picture(_ path: String, as ending: String) throws -> AnyRaster {
        let named = "\(path).\(ending)"
        try? FileManager.default.copyItem(atPath: path, toPath: named)
        return try PictureFiles.read(named)
    }

    // MARK: Pictures

    @Test func `a frame is shown before and after its filters`() async throws {
        try await farm.start()
        let frames = try await render()
        for side in ["before", "after"] {
            let answer = try await ask("\(frames)/2/picture?side=\(side)&width=30")
            #expect(answer.status == 200, "\(answer.text)\(farm.log)")
            #expect(answer.type == "image/webp")
            #expect(try picture(answer.file, as: "webp").rect.width == 30)
        }
        try await farm.end()
    }

    @Test func `a crop has exactly the pixels of its file`() async throws {
        try await farm.start()
        let frames = try await render()
        let part = PixelRect(x: 7, y: 5, width: 31, height: 22)
        for (side, file) in [("before", "photos/1.png"), ("after", "out/1.png")] {
            let answer = try await ask("\(frames)/2/crop?side=\(side)&x=7&y=5&width=31&height=22")
            #expect(answer.status == 200, "\(answer.text)\(farm.log)")
            #expect(answer.type == "image/png")
            let whole = try PictureFiles.read(farm.folder.file(file))
            #expect(try picture(answer.file, as: "png") == whole.cropped(to: part).translated(x: -7, y: -5))
        }
        try await farm.end()
    }

    @Test func `facts are those of the file on disk`() async throws {
        try await farm.start()
        let frames = try await render()
        let answer = try await ask("\(frames)/2/facts?side=after")
        let bytes = try Data(contentsOf: URL(filePath: farm.folder.file("out/1.png"))).count
        #expect(
            answer.text.replacing(/"digest":"[0-9a-f]{32}"/, with: "\"digest\":\"…\"") == """
                {"bytes":\(bytes),"digest":"…","format":"png","frames":1,"height":40,"layout":"rgb","samples":"u8","width":61}
                """)
        try await farm.end()
    }

    @Test func `a client that has a picture gets no second copy`() async throws {
        try await farm.start()
        let frames = try await render()
        let first = try await ask("\(frames)/1/picture")
        let tag = try #require(first.headers.firstMatch(of: /ETag: ("[0-9a-f]{64}")/)).1
        let second = try await ask("\(frames)/1/picture", headers: ["If-None-Match: \(tag)"])
        #expect(second.status == 304)
        #expect(second.size == 0)
        // Another size is another picture.
        #expect(try await ask("\(frames)/1/picture?width=20", headers: ["If-None-Match: \(tag)"]).status == 200)
        try await farm.end()
    }

    @Test func `pictures outlive the service in its folder`() async throws {
        try await farm.start()
        let frames = try await render()
        #expect(try await ask("\(frames)/1/picture").status == 200)
        try await farm.end()
        let kept = farm.outputs(in: "service/thumbnails")
        #expect(!kept.isEmpty)
        try await farm.start()
        #expect(try await ask("\(frames)/1/picture").status == 200)
        // The folder of large pictures is as new.
        #expect(farm.outputs(in: "service/thumbnails").filter { $0 != "large" } == kept)
        try await farm.end()
    }

    // MARK: Large pictures

    /// 50 megapixels, with a dark rectangle at the right of the last rows.
    private func drawLarge(in name: String) throws -> AnyRaster {
        let rect = PixelRect(x: 0, y: 0, width: 7200, height: 7000)
        var samples = [UInt8](repeating: 200, count: rect.area)
        for y in 6900..<7000 { for x in 7100..<7200 { samples[y * rect.width + x] = UInt8(truncatingIfNeeded: x * y) } }
        let picture = AnyRaster.u8(Raster(rect: rect, layout: .gray, samples: samples))
        try FileManager.default.createDirectory(atPath: farm.folder.file(name), withIntermediateDirectories: true)
        try PictureFiles.write(
            picture, to: farm.folder.file("\(name)/large.png"), options: ["compression": .integer(1)])
        return picture
    }

    @Test(.enabled(if: hasLandlock, "this kernel has no Landlock"))
    func `a large picture is made ready once, and its parts are shown to a token with folders`() async throws {
        let whole = try drawLarge(in: "team/photos")
        try farm.write(
            "job: large\ninputs: photos/*\nfilters: [invert]\noutput: out/{stem}.png\n", to: "team/large.yaml")
        try await farm.start("--web-socket")
        let token = try await farm.penumbra("token", "add", "bot", "--scope", "submit", "--root", "\(farm.path)/team")
            .output.trimmingCharacters(in: .newlines)
        let submitted = try await farm.run(
            "\(Farm.programs)/penumbra", ["submit", "team/large.yaml"],
            environment: ["PENUMBRA_SERVER": farm.serviceFolder.webSocket, "PENUMBRA_TOKEN": token])
        #expect(submitted.code == 0, "\(submitted.errors)")
        let frames = "/runs/\(try #require(try await farm.waitForEnd(of: 1).run))/frames"
        func part(_ query: String) async throws -> Answer {
            while true {
                let answer = try await ask(
                    "\(frames)/1/crop?side=before&\(query)", headers: ["Authorization: Bearer \(token)"],
                    socket: farm.serviceFolder.webSocket)
                guard answer.status == 503 else { return answer }
                #expect(answer.value("type") == "/problems/preparing", "\(answer.text)")
                #expect(answer.headers.contains("Retry-After: 1"))
            }
        }
        let corner = try await part("x=7000&y=6800&width=1024&height=1024")
        #expect(corner.status == 200, "\(corner.text)\(farm.log)")
        let rect = PixelRect(x: 7000, y: 6800, width: 200, height: 200)
        #expect(try picture(corner.file, as: "png") == whole.cropped(to: rect).translated(x: -7000, y: -6800))
        let reduced = try await part("x=0&y=0&width=7200&height=7000&scale=8")
        #expect(try picture(reduced.file, as: "png").rect == PixelRect(x: 0, y: 0, width: 900, height: 875))
        // They were read from levels, and nothing had to be said about them.
        #expect(!farm.outputs(in: "service/thumbnails/large").isEmpty)
        #expect(!farm.log.contains("parts of large pictures"))
        try await farm.end()
        #expect(farm.outputs(in: "service/thumbnails/large").isEmpty)
    }

    // MARK: No pictures

    @Test func `a frame that a run had nothing to do with has no picture there`() async throws {
        try await farm.start()
        _ = try await render()
        try farm.draw(3)
        let frames = try await render(2)
        let answer = try await ask("\(frames)/9/picture")
        #expect(answer.status == 404)
        #expect(answer.value("type") == "/problems/no-picture")
        #expect(answer.value("detail") == "the run has nothing recorded of frame 9")
        #expect(try await ask("\(frames)/first/picture").value("type") == "/problems/no-frame")
        #expect(try await ask("/runs/none/frames/1/picture").value("type") == "/problems/no-run")
        try await farm.end()
    }

    @Test func `a frame that was up to date is shown in the latest run, with its recipe`() async throws {
        try await farm.start()
        _ = try await render()
        let frames = try await render(2)
        for side in ["before", "after"] {
            #expect(try await ask("\(frames)/2/picture?side=\(side)").status == 200, "\(farm.log)")
        }
        let answer = try await ask("\(frames)/2")
        #expect(answer.status == 200)
        #expect(answer.value("state") == "skipped")
        #expect(answer.value("input") == farm.folder.file("photos/1.png"))
        let object = try #require(JSONSerialization.jsonObject(with: Data(answer.text.utf8)) as? [String: Any])
        let recipe = try #require((object["recipes"] as? [String])?.first)
        #expect(recipe.hasPrefix("filters:\n  - gaussian: {radius: 3}\n"), "\(recipe)")
        #expect(recipe.contains("\noutput: \(farm.folder.file("out/1.png"))\n"), "\(recipe)")
        // Later runs are the latest.
        try farm.writeManifest(filters: "[{gaussian: {radius: 5}}]")
        _ = try await render(3)
        #expect(try await ask("\(frames)/2/picture").status == 404)
        try await farm.end()
    }

    @Test(arguments: [
        ("[{gaussian: {radius: {x: 2, y: 5.5}, within: {x: 10%, y: 0, width: 50%, height: 20}}}, sharpen]", ""),
        ("[{overlay: {picture: photos/0.png, x: 5px, y: 10%}}]", ""),
        (
            "[{motion: {radius: 9, samples: continuous, edge: mirror}}, {rotate: {angle: right}}]",
            "save: {compression: 9}"
        ),
        ("[{material: {style: tint, color: '#ff0000'}}, {flatten: {background: black}}]", "color: srgb"),
    ])
    func `a job of a frame's recipe makes the same bytes`(filters: String, more: String) async throws {
        try farm.writeManifest(filters: filters, more: more + "\n")
        try await farm.start()
        let frames = try await render()
        let answer = try await ask("\(frames)/2")
        let object = try #require(JSONSerialization.jsonObject(with: Data(answer.text.utf8)) as? [String: Any])
        let recipe = try #require((object["recipes"] as? [String])?.first)
        let again = recipe.replacing(farm.folder.file("out/1.png"), with: farm.folder.file("again/1.png"))
        #expect(again != recipe)
        try farm.write("job: again\ninputs: photos/1.png\n\(again)", to: "again.yaml")
        _ = try await render(2, manifest: "again.yaml")
        let (first, second) = (farm.folder.file("out/1.png"), farm.folder.file("again/1.png"))
        #expect(try Data(contentsOf: URL(filePath: first)) == Data(contentsOf: URL(filePath: second)), "\(recipe)")
        try await farm.end()
    }

    @Test func `a file that is not what the run recorded is not shown`() async throws {
        try await farm.start()
        let frames = try await render()
        for (side, file) in [("before", "photos/0.png"), ("after", "out/0.png")] {
            let path = farm.folder.file(file)
            let old = try Data(contentsOf: URL(filePath: path))
            // A copy with the same bytes is the same picture.
            try old.write(to: URL(filePath: path))
            #expect(try await ask("\(frames)/1/picture?side=\(side)").status == 200)
            var bytes = old
            bytes[bytes.count - 20] ^= 1
            try bytes.write(to: URL(filePath: path))
            let changed = try await ask("\(frames)/1/picture?side=\(side)")
            #expect(changed.status == 404)
            #expect(changed.value("detail") == "the picture has changed since the run")
            #expect(changed.value("remedy") == "the next run of the job renders it again")
            try FileManager.default.removeItem(atPath: path)
            let gone = try await ask("\(frames)/1/picture?side=\(side)")
            #expect(gone.status == 404)
            #expect(gone.value("detail") == "the picture is gone, or cannot be read")
        }
        try await farm.end()
    }

    @Test func `an output that a later run has published belongs to that run`() async throws {
        try await farm.start()
        let frames = try await render()
        try farm.writeManifest(filters: "[{gaussian: {radius: 5}}]")
        let later = try await render(2)
        let answer = try await ask("\(frames)/1/picture")
        #expect(answer.status == 404)
        let run = later.split(separator: "/")[1]
        #expect(answer.value("detail") == "a later run, \(run), has published this output again")
        #expect(try await ask("\(later)/1/picture").status == 200)
        #expect(try await ask("\(frames)/1/picture?side=before").status == 200)
        try await farm.end()
    }

    @Test func `a broken picture is told in words, and the others are shown`() async throws {
        try farm.write("no picture", to: "photos/9.png")
        try await farm.start()
        let frames = try await render()
        let before = try await ask("\(frames)/3/picture?side=before")
        #expect(before.status == 404)
        #expect(before.value("type") == "/problems/broken-picture")
        #expect(before.value("detail")?.hasPrefix("\(farm.path)/photos/9.png: ") == true)
        let after = try await ask("\(frames)/3/picture?side=after")
        #expect(after.value("detail") == "the frame has failed, and has no output")
        #expect(try await ask("\(frames)/1/picture?side=before").status == 200)
        try await farm.end()
    }

    @Test func `a picture that came in place of a broken one is not shown as the one that failed`() async throws {
        try farm.write("no picture", to: "photos/9.png")
        try await farm.start()
        let frames = try await render()
        try Data(contentsOf: URL(filePath: farm.folder.file("photos/0.png"))).write(
            to: URL(filePath: farm.folder.file("photos/9.png")))
        let later = try await render(2)
        #expect(try await ask("\(later)/3/picture?side=before").status == 200)
        #expect(
            try await ask("\(frames)/3/picture?side=before").value("detail") == "the picture has changed since the run")
        try await farm.end()
    }

    @Test(arguments: [
        ("picture?width=0", "width: '0' is not a number from 1 to 2048"),
        ("picture?side=behind", "side: 'behind' is none of before and after"),
        ("picture?path=/etc/passwd", "there is no parameter 'path'"),
        ("crop?scale=3", "scale: 3 is none of 1, 2, 4, 8 and so on up to 4096"),
        ("crop?x=-1", "x: '-1' is not a number from 0 to 134217728"),
        (
            "crop?x=60&y=40&width=5&height=5",
            "the rectangle of 5×5 pixels at 60,40 lies outside of the picture, which has 60×40"
        ),
    ])
    func `wrong values are refused in words`(path: String, detail: String) async throws {
        try await farm.start()
        let frames = try await render()
        let answer = try await ask("\(frames)/1/\(path)")
        #expect(answer.status == 422)
        #expect(answer.value("detail") == detail)
        try await farm.end()
    }

    // MARK: Previews

    @Test func `a preview shows what the command shows`() async throws {
        try await farm.start()
        let body = """
            {"manifest": "\(farm.path)/night.yaml", "input": "\(farm.path)/photos/1.png", "x": 8, "y": 5, "size": 24,
             "filters": [{"gaussian": {"radius": 2.5}}, "sharpen"]}
            """
        let answer = try await ask("/preview", body: body)
        #expect(answer.status == 200, "\(answer.text)\(farm.log)")
        #expect(answer.type == "image/png")
        let shown = try await farm.penumbra(
            "preview", "night.yaml", "photos/1.png", "--at", "20,17", "--size", "24", "--set",
            "filters=[{gaussian: {radius: 2.5}}, sharpen]", "-o", "shown.png")
        #expect(shown.code == 0, "\(shown.errors)")
        #expect(try picture(answer.file, as: "png") == PictureFiles.read(farm.folder.file("shown.png")))
        // Nothing is left of it, and the outputs are as they were.
        #expect(farm.outputs(in: "service/previews").isEmpty)
        #expect(farm.outputs().isEmpty)
        try await farm.end()
    }

    @Test func `a preview of a text starts at its folder`() async throws {
        try await farm.start()
        let text = #"job: t\ninputs: photos/*\nfilters: [{gaussian: {radius: 3}}]\noutput: x/{stem}.png\n"#
        let answer = try await ask("/preview", body: #"{"text": "\#(text)", "folder": "\#(farm.path)", "size": 16}"#)
        #expect(answer.status == 200, "\(answer.text)\(farm.log)")
        #expect(try picture(answer.file, as: "png").rect == PixelRect(x: 0, y: 0, width: 16, height: 16))
        try await farm.end()
    }

    @Test func `a wrong filter of a preview is refused as in a submission`() async throws {
        try await farm.start()
        let answer = try await ask(
            "/preview", body: #"{"manifest": "\#(farm.path)/night.yaml", "filters": [{"gausian": {"radius": 2}}]}"#)
        #expect(answer.status == 422)
        #expect(answer.value("type") == "/problems/manifest")
        #expect(answer.text.contains("unknown filter 'gausian'"))
        let missing = try await ask(
            "/preview", body: #"{"manifest": "\#(farm.path)/night.yaml", "input": "\#(farm.path)/none.png"}"#)
        #expect(missing.status == 422)
        #expect(missing.value("detail")?.hasSuffix("none.png: no such file") == true)
        try await farm.end()
    }

    @Test func `what is wrong with a preview of a text names no file of the service`() async throws {
        try await farm.start()
        let text = #"job: t\ninputs: none/*\nfilters: [{gaussian: {radius: 3}}]\noutput: x/{stem}.png\n"#
        let answer = try await ask("/preview", body: #"{"text": "\#(text)", "folder": "\#(farm.path)", "size": 16}"#)
        #expect(answer.status == 422)
        #expect(answer.value("detail")?.hasPrefix("\(farm.path)/none: no such folder") == true, "\(answer.text)")
        #expect(!answer.text.contains("/previews/"), "\(answer.text)")
        try await farm.end()
    }

    // MARK: Tokens with folders

    @Test(.enabled(if: hasLandlock, "this kernel has no Landlock"))
    func `a token with folders sees pictures inside them, of its own runs`() async throws {
        try farm.draw(2, in: "team/photos")
        try farm.draw(1, in: "other")
        try farm.write(
            "job: night\ninputs: photos/*\nfilters: [{gaussian: {radius: 3}}]\noutput: out/{stem}.png\n",
            to: "team/night.yaml")
        try await farm.start("--web-socket")
        func token(_ folder: String) async throws -> String {
            try await farm.penumbra("token", "add", "bot", "--scope", "submit", "--root", "\(farm.path)/\(folder)")
                .output.trimmingCharacters(in: .newlines)
        }
        let (own, foreign) = (try await token("team"), try await token("other"))
        func ask(_ path: String, _ token: String, body: String? = nil) async throws -> Answer {
            try await self.ask(
                path, body: body, headers: ["Authorization: Bearer \(token)"], socket: farm.serviceFolder.webSocket)
        }
        let submitted = try await farm.run(
            "\(Farm.programs)/penumbra", ["submit", "team/night.yaml"],
            environment: ["PENUMBRA_SERVER": farm.serviceFolder.webSocket, "PENUMBRA_TOKEN": own])
        #expect(submitted.code == 0, "\(submitted.errors)")
        let frames = "/runs/\(try #require(try await farm.waitForEnd(of: 1).run))/frames"
        for path in ["picture?side=before", "picture", "facts", "crop?width=10&height=10"] {
            let answer = try await ask("\(frames)/1/\(path)", own)
            #expect(answer.status == 200, "\(answer.text)\(farm.log)")
            let other = try await ask("\(frames)/1/\(path)", foreign)
            #expect(other.status == 404)
            #expect(other.value("type") == "/problems/no-run")
        }

        // A link that leads out has the same words as a link to nothing.
        let outside = "the picture is gone, or cannot be read, or lies outside of the token's folders"
        let picture = farm.folder.file("team/photos/0.png")
        for target in ["other/0.png", "other/none.png", "service/service.sqlite"] {
            unlink(picture)
            try #require(symlink(farm.folder.file(target), picture) == 0)
            let answer = try await ask("\(frames)/1/picture?side=before", own)
            #expect(answer.status == 404)
            #expect(answer.value("detail") == outside)
        }

        let inside = try await ask(
            "/preview", own,
            body:
                #"{"manifest": "\#(farm.path)/team/night.yaml", "input": "\#(farm.path)/team/photos/1.png", "size": 8}"#
        )
        #expect(inside.status == 200, "\(inside.text)\(farm.log)")
        for name in ["other/0.png", "other/none.png"] {
            let answer = try await ask(
                "/preview", own,
                body: #"{"manifest": "\#(farm.path)/team/night.yaml", "input": "\#(farm.path)/\#(name)"}"#)
            #expect(answer.status == 422)
            #expect(
                answer.value("detail")
                    == "the picture: '\(farm.path)/\(name)' is outside of the token's folders: \(farm.path)/team")
        }
        try await farm.end()
    }
}
