import Foundation
import Geometry
import ImageFiles
import JobModel
import Raster
import Testing

/// Drawings of a few hundred bytes that would take minutes or hours are refused before they are drawn, and ordinary ones are not.
@Suite struct SVGWorkTests {
    private let workspace: Workspace

    init() throws {
        workspace = try Workspace()
    }

    private func load(_ text: String) throws -> AnyRaster {
        _ = try workspace.write(Array(text.utf8), to: "drawing.svg")
        return try workspace.load("drawing.svg").raster
    }

    private static func svg(_ content: String, size: Int = 1000, more: String = "") -> String {
        """
        <svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="\(size)" height="\(size)"\(more)>
        \(content)</svg>
        """
    }

    /// Every element is ten of the one before.
    private static func nested(_ levels: Int, _ more: String = "") -> String {
        let uses = String(repeating: "<use xlink:href='#a0'/>", count: 10)
        return "<defs><rect id='a0' width='9' height='9'/>"
            + (1..<levels).map { "<g id='a\($0)'\(more)>" + uses.replacing("#a0", with: "#a\($0 - 1)") + "</g>" }
            .joined()
            + "</defs><use xlink:href='#a\(levels - 1)'/>"
    }

    struct Heavy: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let text: String
        /// What the message names.
        let cause: String

        init(_ name: String, _ text: String, _ cause: String) {
            (testDescription, self.text, self.cause) = (name, text, cause)
        }
    }

    private static func filtered(_ primitive: String) -> String {
        "<filter id='f'>\(primitive)</filter><rect width='100%' height='100%' filter='url(#f)'/>"
    }

    static let heavy = [
        Heavy(
            "octaves", svg(filtered("<feTurbulence numOctaves='100000' baseFrequency='0.1'/>")), "'feTurbulence'"),
        Heavy(
            "many octaves on a large canvas",
            svg(filtered("<feTurbulence numOctaves='400' baseFrequency='.1'/>"), size: 8000),
            "'feTurbulence'"),
        Heavy("a wide window", svg(filtered("<feMorphology operator='dilate' radius='300'/>")), "'feMorphology'"),
        Heavy(
            "a wide window by a view box",
            svg(filtered("<feMorphology operator='dilate' radius='3'/>"), more: " viewBox='0 0 10 10'"),
            "'feMorphology'"),
        Heavy(
            "a wide window by a transform",
            svg("<g transform='translate(1) scale(100)'>\(filtered("<feMorphology radius='3'/>"))</g>"),
            "'feMorphology'"),
        Heavy(
            "a wide window in parts of what is filtered",
            svg(
                "<filter id='f' primitiveUnits='objectBoundingBox'><feMorphology radius='.4'/></filter><rect width='999' "
                    + "height='999' style='filter: url( &quot;#f&quot; )'/>"), "'feMorphology'"),
        Heavy(
            "a large matrix",
            svg(filtered("<feConvolveMatrix order='600' kernelMatrix='1'/>")), "'feConvolveMatrix'"),
        Heavy(
            "filters used many times",
            svg("<filter id='f'><feGaussianBlur stdDeviation='9'/></filter>" + nested(7, " filter='url(#f)'")),
            "filters"),
        Heavy("nested uses", svg(nested(9)), "elements that are used many times over"),
        Heavy(
            "nested patterns",
            svg(
                "<rect id='r' width='9' height='9' fill='url(#p9)'/>"
                    + (0..<10).map { level in
                        "<pattern id='p\(level)' width='1' height='1'>"
                            + String(
                                repeating: "<rect width='9' height='9' fill='url(#p\(level - 1))'/>", count: 12)
                            + "</pattern>"
                    }.joined()), "elements that are used many times over"),
        Heavy(
            "a style sheet",
            svg(
                "<style>/* a */ @media all { g > rect.big:hover, #other { fill: red; fil\\74 er: url('#f') } }</style>"
                    + "<filter id='f'><feTurbulence numOctaves='99999'/></filter><rect class='x big' width='9' height='9'/>"
            ),
            "'feTurbulence'"),
        Heavy(
            "entities",
            "<!DOCTYPE svg [<!ENTITY many '99999'> <!ENTITY name \"f\">]>"
                + svg(
                    "<filter id='f'><feTurbulence numOctaves='&many;'/></filter><rect width='9' height='9' filter='url(#&name;)'/>"
                ),
            "'feTurbulence'"),
    ]

    @Test(arguments: heavy)
    func `a drawing of minutes is refused, and told what takes them`(drawing: Heavy) throws {
        let error = #expect(throws: ImageFileError.self) { try load(drawing.text) }
        let words = error?.description ?? ""
        #expect(words.contains(" of drawing, most of it for \(drawing.cause) (the limit is 60 s); "), "\(words)")
        // Another night may have another limit.
        #expect(error?.kind == .limit)
    }

    @Test func `the message says what is too much, and what to do`() throws {
        let error = #expect(throws: ImageFileError.self) {
            try load(Self.svg(Self.filtered("<feTurbulence numOctaves='60000'/>")))
        }
        #expect(
            error?.description
                == "\(workspace.path("drawing.svg")): SVG with about 3000 s of drawing, most of it for 'feTurbulence' (the limit is "
                + "60 s); simplify it, draw it to a PNG first, or set PENUMBRA_DRAWING_SECONDS to more seconds")
    }

    static let hidden = [
        (
            "<!DOCTYPE svg [<!ENTITY all '<rect/>'>]>\(svg("&all;"))",
            "markup in its document type, which Penumbra does not read; write it out"
        ),
        (
            "<!DOCTYPE svg [<!ENTITY a 'x'><!ENTITY b '&a;&a;'>]>\(svg(""))",
            "markup in its document type, which Penumbra does not read; write it out"
        ),
        (
            "<!DOCTYPE svg [<!ATTLIST use href CDATA '#a'>]>\(svg("<use/>"))",
            "markup in its document type, which Penumbra does not read; write it out"
        ),
        (
            "<?xml version='1.0' encoding='UTF-7'?>\(svg(""))",
            "text in the encoding utf-7, which Penumbra does not read; store it in UTF-8"
        ),
        (
            svg("<image width='9' height='9' href='data:image/svg+xml;base64,PHN2Zy8+'/>"),
            "another SVG embedded in it, which Penumbra does not read; draw it to a PNG first"
        ),
        (
            svg("<style>@import 'data:text/css,a';</style>"),
            "a style sheet embedded in another, which Penumbra does not read; draw it to a PNG first"
        ),
    ]

    @Test(arguments: hidden)
    func `what would hide a part of the drawing is refused`(text: String, words: String) throws {
        let error = #expect(throws: ImageFileError.self) { try load(text) }
        #expect(error?.description == "\(workspace.path("drawing.svg")): SVG with \(words)")
    }

    static let ordinary = [
        ("filters as artists use them", svg(filtered("<feTurbulence numOctaves='5' baseFrequency='.02'/>"), size: 300)),
        (
            "shadows",
            svg(
                "<filter id='f'><feGaussianBlur stdDeviation='3'/><feOffset dx='2' dy='2'/><feMerge><feMergeNode/><feMergeNode "
                    + "in='SourceGraphic'/></feMerge></filter>"
                    + (0..<20).map { "<circle cx='\($0 * 10)' cy='50' r='9' filter='url(#f)'/>" }.joined(), size: 200)
        ),
        (
            "a map",
            svg(
                (0..<20000).map { "<path d='M\($0 % 200) 1L9 9' style='fill-opacity:1;opacity:1'/>" }.joined(),
                size: 400)
        ),
        (
            "points of a chart",
            svg(
                "<defs><g id='p'><circle r='2'/><circle r='1'/></g></defs>"
                    + (0..<5000).map { "<use xlink:href='#p' x='\($0 % 400)' y='9'/>" }.joined(), size: 400)
        ),
        (
            "a document type as programs write it",
            "<?xml version='1.0' encoding='iso-8859-1'?><!-- < --><!DOCTYPE svg PUBLIC '-//W3C//DTD SVG 1.1//EN' 'x.dtd' [ <!ENTITY ns "
                + "'http://www.w3.org/2000/svg'> <!-- > --> ]><svg xmlns='&ns;' width='9' height='9'><style><![CDATA[ a > b { fill: "
                + "red } ]]></style><rect width='9' height='9' class='a'/></svg>"
        ),
        (
            "elements that refer to themselves",
            svg("<g id='a'><rect id='r' width='9' height='9'/></g><use xlink:href='#r'/>")
        ),
        (
            "an embedded photograph",
            svg("<image width='1' height='1' href='data:image/png;base64,iVBORw0KGgo='/>", size: 9)
        ),
    ]

    @Test(arguments: ordinary)
    func `ordinary drawings are drawn`(name: String, text: String) throws {
        #expect(try load(text).rect.width > 0)
    }
}
