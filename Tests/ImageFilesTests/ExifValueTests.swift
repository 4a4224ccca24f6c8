import Catalogs
import ImageFiles
import JobModel
import Testing

/// Values of EXIF in a form for people.
@Suite struct ExifValueTests {
    private func value(
        _ field: ExifField, main: [ExifBuilder.Entry] = [], exif: [ExifBuilder.Entry] = []
    ) -> String? {
        ImageMetadata(exif: Blob(ExifBuilder(main: main, exif: exif).build())).value(of: field)
    }

    private static func rational(_ tag: UInt16, _ numerator: UInt32, _ denominator: UInt32) -> ExifBuilder.Entry {
        let bytes = [numerator, denominator].flatMap { value in (0..<4).map { UInt8(value >> (8 * $0) & 255) } }
        return ExifBuilder.Entry(tag: tag, type: 5, bytes: bytes)
    }

    @Test func `a picture was taken on a day and at a time, by the clock of its camera`() {
        let taken = ExifBuilder.Entry.text(0x9003, "2026:11:21 14:05:09")
        #expect(value(.date, exif: [taken]) == "2026-11-21")
        #expect(value(.time, exif: [taken]) == "14:05")
        #expect(value(.date, exif: [.text(0x9004, "2001:02:03 04:05:06")]) == "2001-02-03")
        for unset in [
            "0000:00:00 00:00:00", "    :  :     :  :  ", "", "2026-11-21", "2026:11:21", "yesterday evening!!",
        ] {
            #expect(value(.date, exif: [.text(0x9003, unset)]) == nil, "\(unset)")
            #expect(value(.time, exif: [.text(0x9003, unset)]) == nil, "\(unset)")
        }
        // The time of the last change is another one.
        #expect(value(.date, main: [.text(0x0132, "2026:11:21 14:05:09")]) == nil)
    }

    @Test(arguments: [
        ("Canon", "Canon EOS R5", "Canon EOS R5"), ("NIKON CORPORATION", "NIKON D850", "NIKON D850"),
        ("SONY", "ILCE-7M3", "SONY ILCE-7M3"), ("Apple", "iPhone 15", "Apple iPhone 15"), ("", "X100V", "X100V"),
        ("FUJIFILM", "", "FUJIFILM"), ("  A  ", "a7\u{1}\n II ", "a7 II"),
    ])
    func `a camera has its maker's name once`(maker: String, model: String, camera: String) {
        #expect(value(.camera, main: [.text(0x010F, maker), .text(0x0110, model)]) == camera)
    }

    @Test(arguments: [
        (10, 2500, "1/250 s"), (1, 250, "1/250 s"), (1, 3, "0.3 s"), (3, 10, "0.3 s"), (1, 4, "1/4 s"), (1, 1, "1 s"),
        (25, 10, "2.5 s"), (30, 1, "30 s"), (1, 8000, "1/8000 s"),
    ])
    func `short exposures are parts of a second`(numerator: UInt32, denominator: UInt32, text: String) {
        #expect(value(.exposure, exif: [Self.rational(0x829A, numerator, denominator)]) == text)
    }

    @Test func `lenses, apertures and sensitivities`() {
        #expect(value(.aperture, exif: [Self.rational(0x829D, 28, 10)]) == "f/2.8")
        #expect(value(.aperture, exif: [Self.rational(0x829D, 11, 1)]) == "f/11")
        #expect(value(.aperture, exif: [Self.rational(0x829D, 95, 100)]) == "f/0.95")
        #expect(value(.focalLength, exif: [Self.rational(0x920A, 35, 1)]) == "35 mm")
        #expect(value(.focalLength, exif: [Self.rational(0x920A, 425, 100)]) == "4.3 mm")
        #expect(value(.lens, exif: [.text(0xA434, "EF 50mm f/1.8 II")]) == "EF 50mm f/1.8 II")
        #expect(value(.iso, exif: [.short(0x8827, 400)]) == "ISO 400")
        #expect(value(.iso, exif: [.short(0x8827, 65535), .long(0x8832, 102_400)]) == "ISO 102400")
    }

    @Test func `what is missing, zero or of another kind has no value`() {
        for field in ExifField.allCases { #expect(ImageMetadata().value(of: field) == nil) }
        #expect(ImageMetadata(exif: Blob([1, 2, 3])).value(of: .iso) == nil)
        #expect(value(.exposure, exif: [Self.rational(0x829A, 1, 0)]) == nil)
        #expect(value(.exposure, exif: [Self.rational(0x829A, 0, 1)]) == nil)
        #expect(value(.aperture, exif: [.short(0x829D, 4)]) == nil)
        #expect(value(.iso, exif: [.short(0x8827, 0)]) == nil)
        #expect(value(.lens, exif: [.text(0xA434, "   ")]) == nil)
        #expect(value(.lens, exif: [.short(0xA434, 4)]) == nil)
    }

    @Test func `texts that are not UTF-8 are Latin-1, and long ones are cut`() {
        let latin = ExifBuilder.Entry(tag: 0xA434, type: 2, bytes: [0x4F, 0xE9, 0x20, 0x41, 0, 0x42])
        #expect(value(.lens, exif: [latin]) == "Oé A")
        #expect(value(.lens, exif: [.text(0xA434, String(repeating: "x", count: 900))])?.utf8.count == 400)
        // One character may have any number of marks.
        let marked = "e" + String(repeating: "\u{301}", count: 900)
        #expect(value(.lens, exif: [.text(0xA434, marked)])?.utf8.count == 399)
    }
}
