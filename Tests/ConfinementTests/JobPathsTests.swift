import Catalogs
import Confinement
import JobModel
import Testing

@Suite struct JobPathsTests {
    private func paths(_ job: JobSpec) -> [String] {
        JobPaths(of: job).all.map { "\($0.access) \($0.origin): \($0.path)" }
    }

    @Test func `an input is the folder before its first wildcard, or a file`() {
        let inputs = [
            "photos/*.jpg", "photos/2024/**/*", "cat.jpg", "/scans/a/b.tif", "*", "../other/x[1]/*", "a/./b//*.png",
            "a*/../../c/*", "/**",
        ]
        #expect(
            paths(.make(inputs: inputs, outputs: [])) == [
                "read input 'photos/*.jpg': /srv/a/photos", "read input 'photos/2024/**/*': /srv/a/photos/2024",
                "read input 'cat.jpg': /srv/a/cat.jpg", "read input '/scans/a/b.tif': /scans/a/b.tif",
                "read input '*': /srv/a", "read input '../other/x[1]/*': /srv/other",
                "read input 'a/./b//*.png': /srv/a/a/b",
                "read input 'a*/../../c/*': /srv/c", "read input '/**': /",
            ])
    }

    @Test func `URLs are not looked at, because they are refused elsewhere`() {
        #expect(paths(.make(inputs: ["s3://bucket/*", "https://x/y.jpg"], outputs: [])) == [])
    }

    @Test(arguments: [
        ("out/{stem}.png", "/srv/a/out"), ("{stem}.png", "/srv/a"), ("/web/{dir}/{stem}.png", "/web"),
        ("out/x-{stem}/y/z.png", "/srv/a/out"), ("out/one.png", "/srv/a/out"), ("one.png", "/srv/a"),
        ("../b/{stem}.png", "/srv/b"), ("/{stem}.png", "/"), ("out/{job}/{stem}.png", "/srv/a/out/night"),
        ("./out//a/{stem}.png", "/srv/a/out/a"), ("../../../../x/{stem}.png", "/x"),
        // {dir} may be no folder at all, {stem} is always a name.
        ("out/{dir}/../{stem}.png", "/srv/a"), ("out/{stem}/../x.png", "/srv/a/out"),
        ("out/{dir}/../../../etc/{stem}.png", "/"), ("out/{stem}/../../x.png", "/srv/a"),
        ("out/{dir}/sub/../{stem}.png", "/srv/a/out"), ("out/{dir}x/../{stem}.png", "/srv/a/out"),
        ("out/{stem}{dir}/../x.png", "/srv/a/out"),
    ])
    func `an output is the folder that none of its names leaves`(template: String, folder: String) {
        #expect(paths(.make(inputs: [], outputs: [template])) == ["written output '\(template)': \(folder)"])
    }

    @Test func `pictures of filters are read, those of outputs and animations too`() {
        var job = JobSpec.make(inputs: [], outputs: ["out/{stem}.png"])
        job.chain = [.init(filter: "overlay", values: ["image": .picture(PictureReference(path: "/logos/l.svg"))])]
        job.outputs[0].chain = [
            .init(
                filter: "gaussian",
                values: ["mask": .picture(PictureReference(path: "/masks/../m.png")), "radius": .number(3)])
        ]
        job.outputs[0].animations = [
            .init(filter: "crossfade", values: ["to": .picture(PictureReference(path: "/ends/e.png"))])
        ]
        #expect(
            paths(job) == [
                "read 'image' of 'overlay': /logos/l.svg", "written output 'out/{stem}.png': /srv/a/out",
                "read 'mask' of 'gaussian': /m.png", "read 'to' of 'crossfade': /ends/e.png",
            ])
    }

    @Test func `masks of each picture are in a folder that is read`() {
        var job = JobSpec.make(inputs: [], outputs: [])
        job.chain = [
            .init(
                filter: "gaussian",
                values: ["mask": .pictureTemplate(PictureTemplate(path: "/masks/new/{dir}/{stem}.png"))])
        ]
        #expect(paths(job) == ["read 'mask' of 'gaussian': /masks/new"])
    }

    @Test func `the list of outputs and the folder of a cluster are written`() {
        var job = JobSpec.make(inputs: [], outputs: [])
        job.index = "../lists/index.json"
        job.slurm = ClusterOptions()
        job.slurm?.folder = "/lustre/me"
        #expect(paths(job) == ["written 'index': /srv/lists/index.json", "written 'folder' of 'slurm': /lustre/me"])
        #expect(JobPaths(of: job).written == ["/srv/lists/index.json", "/lustre/me"])
        #expect(JobPaths(of: job).read == [])
    }

    @Test func `the manifest is a path of its own`() {
        let path = JobPaths.manifest(of: .make(inputs: [], outputs: []))
        #expect(path == JobPath(origin: "the manifest", path: "/srv/a/night.yaml", access: .read))
    }

    @Test func `control characters of a manifest are shown by their numbers`() {
        #expect(JobPaths(of: .make(inputs: ["a\u{1b}[2J/*"], outputs: [])).all[0].origin == "input 'a\\u{1b}[2J/*'")
    }
}

extension JobSpec {
    static func make(folder: String = "/srv/a", inputs: [String], outputs: [String]) -> JobSpec {
        JobSpec(
            name: "night", manifestPath: "\(folder)/night.yaml", folder: folder, inputs: inputs, chain: [],
            outputs: outputs.map { JobOutput(template: OutputTemplate(source: $0, pieces: pieces($0))) })
    }

    private static func pieces(_ template: String) -> [OutputTemplate.Piece] {
        template.split(separator: "{", omittingEmptySubsequences: false).enumerated().flatMap {
            index, part -> [OutputTemplate.Piece] in
            guard index > 0, let end = part.firstIndex(of: "}") else { return [.literal(String(part))] }
            let field: OutputTemplate.Field =
                switch part[..<end] {
                case "dir": .dir
                case "job": .job
                default: .stem
                }
            return [.field(field), .literal(String(part[part.index(after: end)...]))]
        }
    }
}
