import Planning
import Testing

@Suite struct FileListTests {
    private func entries(_ text: String) throws -> [FileList.Entry] { try entries(Array(text.utf8)) }

    private func entries(_ text: [UInt8]) throws -> [FileList.Entry] {
        try FileList(text, name: "files.txt", folder: "/jobs").entries
    }

    /// A record's only setting, as the flag would have it.
    private func argument(_ json: String) throws -> String? {
        try entries("{\"path\": \"a.jpg\", \"set\": {\(json)}}")[0].settings.first?.argument
    }

    private func message(_ text: String, name: String = "files.txt") -> String {
        do {
            _ = try FileList(Array(text.utf8), name: name, folder: "/jobs")
            return ""
        } catch {
            return error.message
        }
    }

    @Test func `each line is a path, relative ones below the folder, sorted`() throws {
        let entries = try entries("b/../c.jpg\r\n\n/x/a.jpg\nb.jpg\n./{x}.jpg")
        #expect(entries.map(\.path) == ["/jobs/b.jpg", "/jobs/c.jpg", "/jobs/{x}.jpg", "/x/a.jpg"])
        #expect(entries.map(\.line) == [4, 1, 5, 3])
    }

    @Test func `a NUL anywhere makes NULs the ends of entries`() throws {
        let entries = try entries("a\nb.jpg\0{c}.jpg\0\0 d.jpg\r\0")
        #expect(entries.map(\.path) == ["/jobs/ d.jpg\r", "/jobs/a\nb.jpg", "/jobs/{c}.jpg"])
        #expect(entries.map(\.line) == [4, 1, 2])
    }

    @Test func `paths that are not UTF-8 keep their bytes`() throws {
        let entry = try entries(Array("caf".utf8) + [0xE9, 0x0A])[0]
        #expect(entry.path == "/jobs/caf%E9")
        #expect(entry.bytes == Array("/jobs/caf".utf8) + [0xE9])
        #expect(try entries("é.jpg")[0].bytes == nil)
    }

    @Test func `a mark at the beginning that editors write is no part of a name`() throws {
        #expect(try entries([0xEF, 0xBB, 0xBF] + Array("a.jpg".utf8)).map(\.path) == ["/jobs/a.jpg"])
    }

    @Test func `an empty text has no entries`() throws {
        #expect(try entries("").isEmpty)
        #expect(try entries("\n\r\n").isEmpty)
    }

    @Test func `a record sets values in its order`() throws {
        let entry = try entries(
            #"{"set": {"filters[0].gaussian.radius": 30, "save.quality": 90}, "path": "p/\u00e9 \ud83d\ude00.jpg"}"#)[0]
        #expect(entry.path == "/jobs/p/é 😀.jpg")
        #expect(entry.settings.map(\.argument) == ["filters[0].gaussian.radius=30", "save.quality=90"])
    }

    @Test(arguments: [
        ("12", "12"), ("12.0", "12.0"), ("-0.50", "-0.50"), ("1e3", "1e3"), ("true", "true"), ("false", "false"),
        (#""strip""#, #""strip""#), (#""a \"b\" \\ \n\u200b é""#, #""a \"b\" \\ \u000a\u200b é""#), ("[]", "[]"),
        ("[1, [2,3],\"x\"]", "[1, [2, 3], \"x\"]"), (#"{"radius":3,"edge":"wrap"}"#, #"{radius: 3, edge: "wrap"}"#),
        ("{}", "{}"), (#"[{"gaussian":{"radius":3}}]"#, "[{gaussian: {radius: 3}}]"),
    ])
    func `values become the manifest's`(json: String, text: String) throws {
        #expect(try argument("\"a.b\": \(json)") == "a.b=\(text)")
    }

    @Test func `the same file twice is one entry`() throws {
        let entries = try entries("a.jpg\nx/../a.jpg\n{\"path\": \"/jobs/a.jpg\", \"set\": {}}")
        #expect(entries.map(\.line) == [1])
    }

    @Test func `the same file with other settings is refused with both lines`() {
        #expect(
            message("{\"path\": \"a.jpg\", \"set\": {\"save.quality\": 90}}\nb.jpg\na.jpg\n") == """
                files.txt:3: error: /jobs/a.jpg: line 1 lists this file with other settings
                   = list it once, or run the job twice with outputs of different names
                """)
    }

    @Test func `all problems are told, each with its line`() {
        let text = """
            a.jpg
            {"path": "a.jpg"
            s3://bucket/b.jpg
            {"pth": "c.jpg", "set": [1]}
            """
        #expect(
            message(text, name: "-") == """
                standard input:2: error: a line that begins with '{' is a JSON record, and this one is broken at column 17
                   = write {"path": "photos/a.jpg", "set": {"save.quality": 90}}, all in one line; a file whose name begins \
                with '{' is listed as './{…'
                standard input:3: error: s3://bucket/b.jpg: Penumbra reads files, not object stores or URLs
                   = mount the bucket or copy the files first; the page 'Work with object stores' of the documentation shows how
                standard input:4: error: unknown key 'pth'
                   = a record has 'path' and 'set'; values of the manifest go into 'set'
                standard input:4: error: the record has no 'path'
                   = write {"path": "photos/a.jpg"}
                standard input:4: error: 'set' is no object
                   = write {"set": {"save.quality": 90}}: paths of the manifest with their values
                """)
    }

    @Test(arguments: [
        (#"{"path": 3}"#, "'path' is no text\n   = write {\"path\": \"photos/a.jpg\"}, a line for each file"),
        (#"{"path": ""}"#, "the record has no 'path'\n   = write {\"path\": \"photos/a.jpg\"}"),
        (
            #"{"path": "a\u0000b"}"#,
            "the path has a NUL in it, which no file's name can have\n   = look at how the list is made"
        ),
        (#"{"path": "a", "path": "b"}"#, "the key 'path' is there twice\n   = keep one"),
        (
            #"{"path": "a", "set": {"a=b": 1}}"#,
            "'a=b' is no path of the manifest\n   = write keys and indexes as --set takes them: filters[0].gaussian.radius"
        ),
        (
            #"{"path": "a", "set": {"save": {"a b": 1}}}"#,
            "'save' has a key 'a b', which no manifest can have\n   = keys are letters, digits, '_' and '-'"
        ),
        (
            #"{"path": "a", "set": {"save.quality": null}}"#,
            "'save.quality' is null\n   = leave it out to keep the manifest's value"
        ),
    ])
    func `a record's problem is told`(record: String, words: String) {
        #expect(message(record) == "files.txt:1: error: \(words)")
    }

    @Test(arguments: [
        "{", "{}x", "{\"a\"}", "{'path': 1}", "{\"path\": 01}", "{\"path\": 1.}", "{\"path\": \"a\",}",
        "{\"path\": nul}",
        "{\"path\": \"\\x\"}", "{\"path\": \"\\ud800\"}", "{\"path\": \"\t\"}", "{\"path\": \"a}", "{,}",
        "{\"path\": \"\\u+123\"}", "{\"path\": " + String(repeating: "[", count: 1000),
    ])
    func `what is no JSON is refused`(record: String) {
        #expect(message(record).contains("this one is broken at column"))
    }

    @Test func `UTF-16 is recognised`() {
        let text: [UInt8] = [0xFF, 0xFE, 0x61, 0x00]
        let error = #expect(throws: FileListError.self) { try FileList(text, name: "a\nb", folder: "/") }
        #expect(error?.message == "a\\u{a}b:1: error: the list is UTF-16\n   = save it as UTF-8")
    }

    @Test func `after a hundred problems the rest is counted`() {
        let lines = message(String(repeating: "s3://a\n", count: 250)).split(separator: "\n")
        #expect(lines.count == 201)
        #expect(lines.last == "files.txt: error: 150 more problems")
    }
}
