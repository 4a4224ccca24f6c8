import Catalogs
import Planning
import Testing

/// Files with the regions of pictures.
struct RegionListTests {
    private func list(
        _ text: String, _ options: RegionFile = RegionFile(path: "/jobs/faces.json"), inputs: [String] = []
    ) throws(RegionList.Problem) -> RegionList {
        try RegionList(Array(text.utf8), options: options, folder: "/jobs", inputs: inputs)
    }

    private func region(_ x: Double, _ y: Double, _ width: Double, _ height: Double) -> Region {
        Region(x: .pixels(x), y: .pixels(y), width: .pixels(width), height: .pixels(height))
    }

    private static let coco = """
        {"images": [{"id": 1, "file_name": "a.jpg", "width": 400, "height": 300}, {"id": "two", "file_name": "b/c.jpg"}],
         "annotations": [
           {"id": 9, "image_id": 1, "category_id": 1, "bbox": [10, 20.5, 30, 40], "score": 0.9, "segmentation": [[1, 2]]},
           {"id": 8, "image_id": 1, "category_id": 2, "bbox": [1, 2, 3, 4], "iscrowd": 0}],
         "categories": [{"id": 1, "name": "face"}, {"id": 2, "name": "plate", "supercategory": "car"}]}
        """

    @Test func `COCO names pictures, their sizes and their boxes`() throws {
        let list = try list(Self.coco)
        #expect(
            try list.regions(of: "/photos/a.jpg")?.get()
                == RegionSet(
                    [region(10, 20.5, 30, 40), region(1, 2, 3, 4)], of: PictureSize(width: 400, height: 300)))
        #expect(try list.regions(of: "/photos/b/c.jpg")?.get() == RegionSet([]))
        #expect(list.regions(of: "/photos/c.jpg") == nil)
        #expect(list.nearName(of: "/photos/c.jpg") == "'b/c.jpg'")
    }

    @Test func `only the boxes of some categories count`() throws {
        let list = try list(Self.coco, RegionFile(path: "/jobs/faces.json", categories: ["plate"]))
        #expect(try list.regions(of: "/photos/a.jpg")?.get().regions == [region(1, 2, 3, 4)])
    }

    @Test func `regions grow by pixels or by parts of themselves`() throws {
        let text = #"{"a.jpg": [[10, 20, 30, 40]]}"#
        let pixels = try list(
            text, RegionFile(path: "/f.json", grow: .pixels(2), cornerRadius: .percent(50))
        ).regions(of: "/a.jpg")
        #expect(
            try pixels?.get().regions == [
                Region(
                    x: .pixels(8), y: .pixels(18), width: .pixels(34), height: .pixels(44), cornerRadius: .percent(50))
            ])
        let parts = try list(text, RegionFile(path: "/f.json", grow: .percent(10))).regions(of: "/a.jpg")
        #expect(try parts?.get().regions == [region(7, 16, 36, 48)])
    }

    @Test func `pictures by name have rectangles as lists or with names`() throws {
        let list = try list(
            """
            {"a.jpg": [[1, 2, 3, 4], {"x": 5, "y": 6, "width": 7, "height": 8, "category": "face", "score": 1}],
             "b.jpg": {"width": 90, "height": 60, "regions": [[1, 2, 3, 4]]}, "c.jpg": []}
            """)
        #expect(try list.regions(of: "/x/a.jpg")?.get() == RegionSet([region(1, 2, 3, 4), region(5, 6, 7, 8)]))
        #expect(
            try list.regions(of: "/x/b.jpg")?.get()
                == RegionSet([region(1, 2, 3, 4)], of: PictureSize(width: 90, height: 60)))
        #expect(try list.regions(of: "/x/c.jpg")?.get() == RegionSet([]))
    }

    @Test func `regions without a category always count`() throws {
        let list = try list(
            #"{"a.jpg": [[1, 2, 3, 4], {"x": 5, "y": 6, "width": 7, "height": 8, "category": "sign"}]}"#,
            RegionFile(path: "/f.json", categories: ["face"]))
        #expect(try list.regions(of: "/a.jpg")?.get().regions == [region(1, 2, 3, 4)])
    }

    @Test(arguments: ["[[1, 2, 3, 4]]", #"{"regions": [[1, 2, 3, 4]], "model": "x"}"#])
    func `the file of one picture needs no name`(text: String) throws {
        let list = try list(text)
        #expect(list.isOfOnePicture)
        #expect(try list.regions(of: "/any.jpg")?.get() == RegionSet([region(1, 2, 3, 4)]))
    }

    @Test func `the longest name that is the end of the path is meant`() throws {
        let list = try list(
            #"{"a.jpg": [], "x/a.jpg": [[1, 1, 9, 9]], "/p/y/a.jpg": [[2, 2, 9, 9]], "./z/a.jpg": [[3, 3, 9, 9]]}"#,
            inputs: ["/p/x/a.jpg", "/p/y/a.jpg", "/jobs/z/a.jpg", "/p/a.jpg"])
        #expect(try list.regions(of: "/p/x/a.jpg")?.get().regions == [region(1, 1, 9, 9)])
        #expect(try list.regions(of: "/p/y/a.jpg")?.get().regions == [region(2, 2, 9, 9)])
        #expect(try list.regions(of: "/jobs/z/a.jpg")?.get().regions == [region(3, 3, 9, 9)])
        #expect(try list.regions(of: "/p/a.jpg")?.get().regions == [])
    }

    private func failure(_ regions: RegionList.Regions?) -> String? {
        if case .failure(let problem)? = regions { "\(problem.reason); \(problem.remedy)" } else { nil }
    }

    @Test func `a name that may be two pictures is none of them`() throws {
        let list = try list(#"{"a.jpg": [[1, 1, 9, 9]]}"#, inputs: ["/p/x/a.jpg", "/p/y/a.jpg"])
        #expect(
            failure(list.regions(of: "/p/x/a.jpg"))
                == "has 'a.jpg', which may be this picture or /p/y/a.jpg; write names with their folders")
        #expect(
            failure(list.regions(of: "/p/y/a.jpg"))
                == "has 'a.jpg', which may be this picture or /p/x/a.jpg; write names with their folders")
    }

    @Test func `a shorter name of the same picture is not lost`() throws {
        let text = #"{"x/a.jpg": [[1, 1, 9, 9]], "a.jpg": [[2, 2, 9, 9]]}"#
        #expect(
            failure(try list(text, inputs: ["/p/x/a.jpg"]).regions(of: "/p/x/a.jpg"))
                == "lists 'x/a.jpg' and 'a.jpg', which is the same picture; merge the two")
        #expect(try list(text, inputs: ["/p/x/a.jpg", "/p/a.jpg"]).regions(of: "/p/x/a.jpg")?.get().regions.count == 1)
    }

    @Test func `a picture that is listed twice fails`() throws {
        let list = try list(#"{"a.jpg": [[1, 1, 9, 9]], "a.jpg": []}"#)
        #expect(failure(list.regions(of: "/a.jpg")) == "lists 'a.jpg' twice; merge the two")
    }

    @Test(arguments: [
        (#"[[1, 2, 3]]"#, "region 1 is not [x, y, width, height] in pixels; correct it"),
        (#"[[1, 2, 3, 4], [1, 2, "3", 4]]"#, "region 2 is not [x, y, width, height] in pixels; correct it"),
        (#"[{"x": 1, "y": 2, "width": 3}]"#, "region 1 is not [x, y, width, height] in pixels; correct it"),
        (#"[[1, 2, 0, 4]]"#, "region 1 has the size 0 × 4; correct it"),
        (#"[[1, 2, -3.5, 4]]"#, "region 1 has the size -3.5 × 4; correct it"),
        (#"[[1, 2, 3, 1e300]]"#, "region 1 has the size 3 × 1e+300; correct it"),
        (#"[[1e300, 2, 3, 4]]"#, "region 1 begins at 1e+300, 2; correct it"),
        (
            #"[[0.2, 0.3, 0.25, 0.25]]"#,
            "region 1 is not larger than a pixel; write pixels, and no parts of the picture's size"
        ),
        (#""a""#, nil), (#"{"a.jpg": 3}"#, "has no list of regions; correct it"),
        (#"{"a.jpg": {}}"#, "has no 'regions'; correct it"),
        (
            #"{"a.jpg": {"width": 0, "height": 3, "regions": []}}"#,
            "has a 'width' or a 'height' that is no number of pixels; correct it"
        ),
        (
            #"{"a.jpg": {"width": 5.5, "regions": []}}"#,
            "has a 'width' or a 'height' that is no number of pixels; correct it"
        ),
    ])
    func `an odd picture costs itself`(text: String, words: String?) throws {
        guard let words else { return }
        #expect(failure(try list(text).regions(of: "/a.jpg")) == words)
    }

    @Test(arguments: [
        ("{", "it ends in the middle; export it again"), ("  \n", "it is empty; export it again"),
        ("{\n  \"a.jpg\": [[1, x]]\n}", "it is no JSON in line 2, byte 17; correct it, or export it again"),
        ("[1, 2], 3", "it is no JSON in line 1, byte 7; correct it, or export it again"),
        (
            "7",
            "it has neither a list of regions nor names of pictures; write {\"photo.jpg\": [[x, y, width, height]]}, or export COCO"
        ),
        (
            #"[{"image_id": 1, "bbox": [1, 2, 3, 4], "score": 1}]"#,
            "it has results without the names of their pictures; use a COCO file with 'images' and 'annotations'"
        ),
        (#"{"images": []}"#, "it has 'images' and no 'annotations'; correct it"),
        (
            #"{"annotations": [{"image_id": 1, "bbox": [1, 2, 3, 4]}]}"#,
            "it has 'annotations' and no 'images', which name their pictures; export COCO with both"
        ),
        (
            #"{"info": {}, "annotations": []}"#,
            "it has 'annotations' and no 'images', which name their pictures; export COCO with both"
        ),
        (#"{"images": 1, "annotations": []}"#, "its 'images' is no list; correct it"),
        (
            #"{"images": [{"id": 1}], "annotations": []}"#,
            "item 1 of its 'images' has no 'id' or no 'file_name'; correct it"
        ),
        (
            #"{"images": [{"id": 1, "file_name": "a"}, {"id": 1.0, "file_name": "b"}], "annotations": []}"#,
            "two items of its 'images' have the same 'id'; correct it"
        ),
        (
            #"{"images": [{"id": 1, "file_name": "a"}], "annotations": [{"image_id": "1", "bbox": [1, 2, 3, 4]}]}"#,
            "item 1 of its 'annotations' belongs to none of its 'images'; correct it"
        ),
    ])
    func `an odd file cannot be used`(text: String, words: String) {
        let problem = #expect(throws: RegionList.Problem.self) { try list(text) }
        #expect(problem.map { "\($0.reason); \($0.remedy)" } == words)
    }

    @Test func `a category that the file does not have is refused`() {
        let problem = #expect(throws: RegionList.Problem.self) {
            try list(Self.coco, RegionFile(path: "/f.json", categories: ["fase"]))
        }
        #expect(
            problem
                == RegionList.Problem(
                    reason: "it has no category 'fase'", remedy: "its categories are face, plate"))
    }

    @Test func `a mark of UTF-8 at the beginning is skipped`() throws {
        #expect(try list("\u{FEFF}[[1, 2, 3, 4]]").isOfOnePicture)
    }

    @Test func `names that no picture has are known, and so are the categories`() throws {
        let list = try list(
            #"{"a.jpg": [{"x": 1, "y": 2, "width": 3, "height": 4, "category": "face"}], "b.jpg": [], "c.jpg": []}"#,
            inputs: ["/p/b.jpg"])
        #expect(list.unused == ["a.jpg", "c.jpg"] && list.isUsed && list.categories == ["face"])
        #expect(try !self.list(#"{"a.jpg": []}"#, inputs: ["/p/b.jpg"]).isUsed)
    }

    @Test func `one picture has at most 10,000 regions`() throws {
        let regions = Array(repeating: "[1, 2, 3, 4]", count: 10_001).joined(separator: ",")
        #expect(
            failure(try list(#"{"a.jpg": [\#(regions)]}"#).regions(of: "/a.jpg"))
                == "has more than 10000 regions; use a mask for this picture")
    }

    @Test func `an annotation without a box costs its picture`() throws {
        let list = try list(
            #"{"images": [{"id": 1, "file_name": "a"}], "annotations": [{"image_id": 1}, {"image_id": 1, "bbox": 3}]}"#)
        #expect(failure(list.regions(of: "/a")) == "annotation 1 of this picture has no 'bbox'; correct it")
    }

    @Test func `a file of each picture has its folder and its name`() {
        let file = RegionFile(path: "/jobs/faces/{dir}/{stem}.{ext}.json")
        #expect(file.isOfEachPicture && file.fixedFolder == "/jobs/faces")
        #expect(
            file.path(for: InputFile(path: "/p/2026/may/A b.JPG", dir: "2026/may"))
                == "/jobs/faces/2026/may/A b.jpg.json")
        #expect(file.path(for: InputFile(path: "/p/a", dir: "")) == "/jobs/faces/a..json")
        let one = RegionFile(path: "/odd{1}/faces.json")
        #expect(!one.isOfEachPicture && one.fixedFolder == "/odd{1}")
        #expect(one.path(for: InputFile(path: "/p/a.jpg", dir: "")) == "/odd{1}/faces.json")
    }

    // MARK: Outlines

    private static let drawn = RegionFile(path: "/jobs/f.json", grow: .percent(10), shape: .outline)

    private func outlined(
        _ segmentation: String, size: String = "", options: RegionFile = drawn
    ) throws -> RegionList.Regions? {
        try list(
            #"{"images": [{"id": 1, "file_name": "a"\#(size)}], "annotations": [{"image_id": 1, "bbox": [1, 2, 30, 40], "#
                + #""segmentation": \#(segmentation)}]}"#, options
        ).regions(of: "/a")
    }

    @Test func `polygons are regions if outlines are asked for, and boxes otherwise`() throws {
        let polygons = "[[10, 10, 30.5, 10, 30.5, 50], [1, 1, 9, 1, 5, 9]]"
        #expect(
            try outlined(polygons)?.get()
                == RegionSet(
                    [],
                    outlines: [
                        RegionOutline(rings: [[10, 10, 30.5, 10, 30.5, 50]], grow: 4),
                        RegionOutline(rings: [[1, 1, 9, 1, 5, 9]], grow: 0.8),
                    ]))
        #expect(
            try outlined(polygons, options: RegionFile(path: "/f.json"))?.get() == RegionSet([region(1, 2, 30, 40)]))
    }

    @Test(arguments: ["null", "[]", "[[]]", "[[1, 2]]", "[[1, 1, 5, 5, 9, 9]]", "[[0.1, 0.1, 0.4, 0.1, 0.3, 0.4]]"])
    func `an annotation whose outline encloses nothing has its box`(segmentation: String) throws {
        let set = try outlined(segmentation, options: RegionFile(path: "/f.json", shape: .outline))?.get()
        #expect(set == RegionSet([region(1, 2, 30, 40)]))
    }

    /// Five columns of three pixels: all but the first and the last are white, but for a hole.
    @Test func `a mask becomes the lines around its pixels, and around its holes`() throws {
        let set = try outlined(#"{"size": [3, 5], "counts": [3, 4, 1, 4, 3]}"#)?.get()
        #expect(set?.size == PictureSize(width: 5, height: 3))
        #expect(
            set?.outlines == [
                RegionOutline(rings: [[1, 3, 1, 0, 4, 0, 4, 3], [2, 1, 2, 2, 3, 2, 3, 1]], grow: 0.3)
            ])
        #expect(try outlined(#"{"size": [3, 5], "counts": "34102"}"#)?.get() == set)
    }

    @Test(arguments: [
        ("3", "has a 'segmentation' in annotation 1 of this picture that is no outline; correct it"),
        ("[1, 2, 3, 4, 5, 6]", "has a polygon in annotation 1 of this picture that is not [x, y, x, y, …]; correct it"),
        ("[[1, 2, 3]]", "has a polygon in annotation 1 of this picture that is not [x, y, x, y, …]; correct it"),
        (
            #"[[1, 2, "3", 4, 5, 6]]"#,
            "has a polygon in annotation 1 of this picture that is not [x, y, x, y, …]; correct it"
        ),
        (
            "[[1, 2, 1e300, 4, 5, 6]]",
            "has a polygon in annotation 1 of this picture that is not [x, y, x, y, …]; correct it"
        ),
        ("{}", "has a mask in annotation 1 of this picture that has no 'size' of a picture; correct it"),
        (
            #"{"size": [2, 2000000000000], "counts": [1]}"#,
            "has a mask in annotation 1 of this picture that has no 'size' of a picture; correct it"
        ),
        (
            #"{"size": [2, 2], "counts": [1, 2]}"#,
            "has a mask in annotation 1 of this picture that has 'counts' that do not fill its 'size'; correct it"
        ),
        (
            #"{"size": [2, 2], "counts": [1, 9000000000000000000]}"#,
            "has a mask in annotation 1 of this picture that has 'counts' beyond its 'size'; correct it"
        ),
        (
            #"{"size": [2, 2], "counts": [5, -1]}"#,
            "has a mask in annotation 1 of this picture that has 'counts' beyond its 'size'; correct it"
        ),
        (
            #"{"size": [2, 2], "counts": [1.5, 2.5]}"#,
            "has a mask in annotation 1 of this picture that has 'counts' that are no lengths of runs; correct it"
        ),
        (
            #"{"size": [2, 2], "counts": "oooooooooo"}"#,
            "has a mask in annotation 1 of this picture that has 'counts' that are no lengths of runs; correct it"
        ),
    ])
    func `a wrong outline costs its picture`(segmentation: String, words: String) throws {
        #expect(failure(try outlined(segmentation)) == words)
    }

    @Test func `a mask of another size than its picture is refused`() throws {
        #expect(
            failure(try outlined(#"{"size": [2, 3], "counts": [0, 6]}"#, size: #", "width": 4, "height": 2"#))
                == "has a mask in annotation 1 of this picture of 3 × 2 pixels, and says that the picture has 4 × 2; export the file again"
        )
    }

    @Test func `one picture has at most 100,000 corners`() throws {
        let words = "has outlines of more than 100000 corners; use a mask for this picture"
        let ring = (0...100_000).map { "\($0), \($0 % 7)" }.joined(separator: ",")
        #expect(failure(try outlined("[[\(ring)]]")) == words)
        let counts = Array(repeating: "1", count: 500_000).joined(separator: ",")
        #expect(failure(try outlined(#"{"size": [1000, 500], "counts": [\#(counts)]}"#)) == words)
    }
}
