import JobModel
import Testing

/// The names of files in outputs that are folders.
@Suite struct FolderNamesTests {
    private let zoom = DeepZoomNames(of: "/out/a")
    private let service = IIIFNames(of: "/out/a")

    @Test func `the names that a Deep Zoom picture's files can have are its own`() {
        #expect(
            zoom.samples == [
                "/out/a/a.dzi", "/out/a/a_files/0/0_0.jpg", "/out/a/a_files/0/0_0.png", "/out/a/a_files/0/0_0.webp",
            ])
        #expect(["a.dzi", "a_files/12/3_40.jpg", "a_files/0/0_0.webp"].allSatisfy(zoom.holds(file:)))
        #expect(["a_files", "a_files/12"].allSatisfy(zoom.holds(folder:)))
    }

    @Test(arguments: [
        "b.dzi", "a.txt", "a_files/12/3_4.tif", "a_files/12/3_4_5.jpg", "a_files/12/3.jpg", "a_files/x/3_4.jpg",
        "a_files/12/-3_4.jpg", "a_files/3_4.jpg", "a_files/1/2/3_4.jpg", "b_files/12/3_4.jpg", "a_files/12/_.png",
        "a_files/12/3_4", "info.json",
    ])
    func `another file is none of a Deep Zoom picture`(file: String) {
        #expect(!zoom.holds(file: file))
    }

    @Test(arguments: ["b_files", "a_files/x", "a_files/1/2", "a_files/1/2/3", "full"])
    func `another folder is none of a Deep Zoom picture`(folder: String) {
        #expect(!zoom.holds(folder: folder))
    }

    @Test func `the names that files of IIIF can have say which part of the picture they show`() {
        #expect(
            service.samples == [
                "/out/a/info.json", "/out/a/full/max/0/default.jpg", "/out/a/0,0,1,1/1,1/0/default.jpg",
            ])
        let files = [
            "info.json", "full/max/0/default.jpg", "full/12,7/0/default.jpg", "0,512,300,40/300,40/0/default.jpg",
        ]
        #expect(files.allSatisfy(service.holds(file:)))
        let folders = ["full", "0,0,12,4", "full/max", "full/1,2", "0,0,12,4/6,2", "full/max/0"]
        #expect(folders.allSatisfy(service.holds(folder:)))
    }

    @Test(arguments: [
        "a.dzi", "info.xml", "full/info.json", "full/max/default.jpg", "full/max/0/default.png",
        "full/max/90/default.jpg",
        "full/max/0/0/default.jpg", "half/max/0/default.jpg", "0,0,1/1,1/0/default.jpg", "0,0,1,-1/1,1/0/default.jpg",
        "0,0,1,1/1/0/default.jpg", "0,0,1,/1,1/0/default.jpg", "0,0,1,1/1,1,1/0/default.jpg", "full/max/0/native.jpg",
    ])
    func `another file is none of IIIF`(file: String) {
        #expect(!service.holds(file: file))
    }

    @Test(arguments: ["a_files", "full/0", "full/max/1", "full/max/0/0", "1,2,3", "max"])
    func `another folder is none of IIIF`(folder: String) {
        #expect(!service.holds(folder: folder))
    }

    @Test func `all files of an output are of one format`() {
        let output = FolderOutput(at: "/out/a")
        #expect(output.descriptors == ["/out/a/a.dzi", "/out/a/info.json"])
        #expect(output.holds(all: []))
        #expect(output.holds(all: ["a.dzi", "a_files/0/0_0.jpg"]))
        #expect(output.holds(all: ["info.json", "full/max/0/default.jpg"]))
        #expect(!output.holds(all: ["info.json", "a_files/0/0_0.jpg"]))
        #expect(output.holds(any: ["mine.txt", "info.json"]))
        #expect(!output.holds(any: ["mine.txt"]))
    }

    @Test func `an address has the values of its fields, encoded`() {
        func filled(_ template: String, dir: String = "a b/ü") -> String {
            AddressTemplate.filled(template) { field in
                ["dir": dir, "stem": "50% {off}", "index:03": "007"][String(field)] ?? ""
            }
        }
        #expect(filled("https://e.org/{dir}/{stem}") == "https://e.org/a%20b/%C3%BC/50%25%20%7Boff%7D")
        #expect(filled("http://e.org:80/i/{index:03}-{stem}x") == "http://e.org:80/i/007-50%25%20%7Boff%7Dx")
        #expect(filled("https://e.org/{dir}/x", dir: "") == "https://e.org/x")
        #expect(filled("https://e.org/plain") == "https://e.org/plain")
    }
}
