import JobModel
import Testing

@Suite struct DeepZoomNamesTests {
    private let names = DeepZoomNames(of: "/out/a")

    @Test func `the names that a picture's files can have are its own`() {
        #expect(
            names.samples == [
                "/out/a/a.dzi", "/out/a/a_files/0/0_0.jpg", "/out/a/a_files/0/0_0.png", "/out/a/a_files/0/0_0.webp",
            ])
        #expect(names.all(["a.dzi", "a_files/12/3_40.jpg", "a_files/0/0_0.webp"]))
        #expect(names.all([]))
    }

    @Test(arguments: [
        "b.dzi", "a.txt", "a_files/12/3_4.tif", "a_files/12/3_4_5.jpg", "a_files/12/3.jpg", "a_files/x/3_4.jpg",
        "a_files/12/-3_4.jpg", "a_files/3_4.jpg", "a_files/1/2/3_4.jpg", "b_files/12/3_4.jpg", "a_files/12/_.png",
        "a_files/12/3_4",
    ])
    func `another file is not`(file: String) {
        #expect(!names.all(["a.dzi", file]))
    }
}
