import Catalogs
import Manifests
import Testing

/// `within`: a region, several, or a file with the regions of each picture.
@Suite struct RegionsReadingTests {
    private func within(_ value: String) -> Reading { .filter("gaussian: {within: \(value)}") }

    private static let first = Region(x: .pixels(1), y: .pixels(2), width: .pixels(3), height: .pixels(4))
    private static let second = Region(
        x: .percent(5), y: .percent(6), width: .percent(7), height: .percent(8), cornerRadius: .percent(50))
    private static let firstText = "{x: 1, y: 2, width: 3, height: 4}"
    private static let secondText = "{x: 5%, y: 6%, width: 7%, height: 8%, corner_radius: 50%}"

    @Test func `several regions are a list`() {
        let reading = within("[\(Self.firstText), \(Self.secondText)]")
        #expect(reading.values?["within"] == .regions(RegionSet([Self.first, Self.second])))
    }

    @Test func `a list of one region is that region`() {
        #expect(within("[\(Self.firstText)]").values?["within"] == .region(Self.first))
    }

    @Test func `an odd item is named by its place`() {
        #expect(
            within("[\(Self.firstText), {x: 1, y: 2, width: 0, height: 4}]").problems == [
                "4:80: the region's 'width' must be more than 0"
            ])
        #expect(within("[]").problems == ["4:24: 'within' is an empty list"])
    }

    @Test func `a folder of the manifest that is called like a field is refused`() {
        let text = "job: a\ninputs: '*.jpg'\nfilters: [{gaussian: {within: {from: f.json}}}]\noutput: out/{stem}.png\n"
        let result = JobReader.read(
            bytes: Array(text.utf8), path: "job.yaml", realPath: "/home/{dir}/job.yaml", catalog: .example)
        #expect(
            result.messages
                == [
                    """
                    job.yaml:3:38: error: the folder of the manifest, '/home/{dir}', has a field in its name, which 'from' would fill in
                    3 | filters: [{gaussian: {within: {from: f.json}}}]
                      |                                      ^^^^^^
                      = rename the folder
                    """
                ])
    }

    @Test func `a file has the regions of each picture`() {
        #expect(
            within("{from: faces.json}").values?["within"]
                == .regionFile(RegionFile(path: "/home/ann/jobs/faces.json")))
        #expect(
            within(
                "{from: '{dir}/{stem}.json', categories: [face, plate], grow: 10%, corner_radius: 5, unlisted: none}"
            )
            .values?["within"]
                == .regionFile(
                    RegionFile(
                        path: "/home/ann/jobs/{dir}/{stem}.json", categories: ["face", "plate"], grow: .percent(10),
                        cornerRadius: .pixels(5), unlisted: .none)))
        #expect(
            within("{from: faces.json, categories: face}").values?["within"]
                == .regionFile(RegionFile(path: "/home/ann/jobs/faces.json", categories: ["face"])))
    }

    @Test func `regions of a file are boxes, or outlines`() {
        #expect(
            within("{from: a.json, shape: outline}").values?["within"]
                == .regionFile(RegionFile(path: "/home/ann/jobs/a.json", shape: .outline)))
        #expect(within("{from: a.json, shape: box}").values?["within"] == within("{from: a.json}").values?["within"])
        #expect(within("{from: a.json, shape: round}").problems.count == 1)
    }

    @Test(arguments: [
        ("{from: ''}", "'from' is empty"),
        (
            "{from: '{date}.json'}",
            "the path of a file with regions has the fields {dir}, {stem} and {ext}, and no others"
        ),
        ("{from: a.json, unlisted: maybe}", "'unlisted' cannot be 'maybe'"),
        ("{from: a.json, grow: -1}", "'grow' cannot be -1, because it makes regions larger"),
        ("{from: a.json, grow: -5%}", "'grow' cannot be -5%, because it makes regions larger"),
        ("{from: a.json, grow: much}", "'grow' needs a length, and 'much' is none"),
        ("{from: a.json, x: 3}", "'within' has no key 'x'"),
        ("faces.json", "'within' takes a region, a list of regions, or a file, not 'faces.json'"),
        ("[1, 2, 3, 4]", "'within' takes a region, a list of regions, or a file, not a list of numbers"),
        ("[{from: a.json}, {x: 1, y: 2, width: 3, height: 4}]", "a file with regions is no item of a list"),
        ("{frm: a.json}", "'within' has no key 'frm'"),
        ("{from: a.json, categories: []}", "'categories' is an empty list"),
    ])
    func `a wrong value of a file is refused`(value: String, words: String) {
        let problems = within(value).problems
        #expect(problems.count == 1 && problems[0].hasSuffix(words), "\(problems)")
    }

    @Test func `what belongs to a parameter needs it`() {
        let catalog = Catalog(
            versions: [:],
            filters: [
                FilterDescriptor(
                    name: "shade", kind: .area, summary: "Shades", renderingVersion: 1,
                    parameters: [
                        ParameterDescriptor("within", .regions, summary: "Where"),
                        ParameterDescriptor("mask", .picture, summary: "Where"),
                        ParameterDescriptor(
                            "feather", .number(minimum: 0, maximum: 9), fallback: .number(0), summary: "Soft"),
                        ParameterDescriptor("mask_x", .length(), summary: "Left"),
                    ],
                    rules: [
                        .belongs(parameter: "feather", to: ["within", "mask"]),
                        .belongs(parameter: "mask_x", to: ["mask"]),
                    ])
            ], formats: [.png])
        func reading(_ text: String) -> Reading { .filter("shade: \(text)", catalog: catalog) }
        #expect(reading("{feather: 3}").problems == ["4:13: 'feather' has no effect without 'within' or 'mask'"])
        #expect(reading("{feather: 3}").remedies == ["add one of them, or remove 'feather'"])
        #expect(reading("{mask_x: 3}").problems == ["4:13: 'mask_x' has no effect without 'mask'"])
        #expect(reading("{mask_x: 3}").remedies == ["add it, or remove 'mask_x'"])
        #expect(reading("{feather: 3, mask: a.png, mask_x: 1}").problems.isEmpty)
    }
}
