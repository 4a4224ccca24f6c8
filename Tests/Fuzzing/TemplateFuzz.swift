import JobModel
@testable import Manifests
@testable import Planning

/// Reads a template of outputs, and fills it in for a picture with any name.
@c(LLVMFuzzerTestOneInput)
public func fuzzTemplate(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = Input(start, count)
    let page = input.choice(256)
    let parts = input.parts(3)
    let text = String(decoding: parts[0], as: UTF8.self)
    let node = SyntaxNode(
        .scalar(SyntaxNode.Scalar(text: text, quoting: .double)),
        span: SourceSpan(
            source: .file, start: SourcePosition(line: 1, column: 1), length: text.unicodeScalars.count + 2))
    // A wrong template is an ordinary result.
    guard let pieces = try? TemplateParser.pieces(of: node, text: text) else { return 0 }
    let template = OutputTemplate(source: text, pieces: pieces)
    let job = JobSpec(
        name: "night", manifestPath: "/jobs/night.yaml", folder: "/jobs", inputs: ["*"], chain: [],
        outputs: [JobOutput(template: template, chain: [], save: SaveOptions())])
    let naming = OutputNaming(job, date: "2026-11-21")
    let name = parts.count > 1 ? parts[1] : Array("cat.jpg".utf8)
    let folder = parts.count > 2 ? String(decoding: parts[2], as: UTF8.self) : "2026"
    let picture = InputFile(bytes: PathBytes.normalized(name, in: Array("/photos".utf8)), dir: folder)
    for measures in [nil, OutputNaming.Measures(width: 1920, height: 1080, contentDigest: Digest(high: 1, low: 2))] {
        let path = naming.path(template, for: picture, index: 7, page: page, measures: measures)
        precondition(PathNames.isAbsolute(path), "an output has an absolute path")
        let names = PathNames.all(in: path)
        precondition(!names.contains("..") && !names.contains("."), "the path of an output is normal")
    }
    _ = naming.fileExtension(template, for: picture)
    return 0
}
