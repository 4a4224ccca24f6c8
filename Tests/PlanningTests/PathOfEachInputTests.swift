import Catalogs
import Planning
import Testing

/// Paths of masks with fields.
struct PathOfEachInputTests {
    @Test func `a picture of each input has its folder and its name`() {
        let masks = PictureTemplate(path: "/jobs/masks/{dir}/{stem}.{ext}.png")
        #expect(masks.fixedFolder == "/jobs/masks")
        #expect(
            masks.path(for: InputFile(path: "/p/2026/may/A b.JPG", dir: "2026/may"))
                == "/jobs/masks/2026/may/A b.jpg.png")
        #expect(masks.path(for: InputFile(path: "/p/a", dir: "")) == "/jobs/masks/a..png")
    }

    @Test func `no name leads out of the fixed folder`() {
        let masks = PictureTemplate(path: "/jobs/masks/{stem}/m.png")
        #expect(masks.path(for: InputFile(path: "/p/...png", dir: "")) == "/jobs/masks/{stem}/m.png")
    }

    @Test func `a name like a field is no field`() {
        let masks = PictureTemplate(path: "/m/{stem}.png")
        #expect(masks.path(for: InputFile(path: "/p/{ext}.jpg", dir: "")) == "/m/{ext}.png")
    }
}
