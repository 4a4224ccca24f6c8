import Catalogs
import Digests
import FilterKitTesting
import Filters
import Foundation
import Glibc
import PluginLoading
import TestSupport
import Testing

struct PluginLoaderTests {
    private let fixture: PluginFixture

    init() throws {
        fixture = try PluginFixture()
    }

    @Test func `good plugins are loaded in the order of their files`() throws {
        try fixture.build("threshold")
        try fixture.build("spread")
        let (plugins, problems) = fixture.load()
        #expect(problems == [])
        #expect(plugins.map(\.name) == ["spread", "threshold"])
        #expect(plugins.map(\.version) == ["2.1", "1.0"])
    }

    @Test func `the catalog shows a plugin's parameters and the host's`() throws {
        let paths = try [fixture.build("spread"), fixture.build("threshold")]
        let descriptors = fixture.load().plugins.map(\.entry.descriptor)
        #expect(descriptors.map(\.kind) == [.area, .point])
        #expect(descriptors.map(\.origin) == paths.map { .plugin(path: $0) })
        #expect(descriptors[0].renderingVersion == 7)
        let masks = ["within", "mask", "mask_x", "mask_y", "inverted", "feather"]
        #expect(descriptors[0].parameters.map(\.name) == ["distance", "edge", "extent", "light"] + masks)
        #expect(descriptors[0].rules.count == 7)
        #expect(descriptors[1].parameters.map(\.name) == ["level", "steps", "invert", "channel"] + masks)
        #expect(descriptors[1].parameters[0].kind == .number(minimum: 0, maximum: 1))
        #expect(descriptors[1].parameters[1].fallback == .integer(1))
        #expect(descriptors[1].parameters[2].fallback == .boolean(false))
        #expect(descriptors[1].parameters[3].kind == .choice(["first", "second", "third"]))
    }

    /// What spoils a plugin, and what is said about it.
    private static let flaws: [(defines: [String], problem: String)] = [
        (["ABI=9"], "was built for plugin interface 9, and this Penumbra speaks 1; build it again"),
        (["REFUSES"], "needs a newer plugin interface than 1; use a newer Penumbra or an older plugin"),
        (["SIZE=16"], "describes itself in 16 bytes; set struct_size to sizeof(penumbra_plugin)"),
        // Half of an address.
        (["SIZE=108"], "describes itself in 108 bytes; set struct_size to sizeof(penumbra_plugin)"),
        (["PARAMETER_SIZE=76"], "describes 1 parameters of 76 bytes; give at most 64, and their size"),
        (["NAME=NULL"], "has no name; give it one"),
        (["NAME=\"Half Tone\""], "has the name 'Half Tone'; use small letters, digits, - and _"),
        (["NAME=\"\""], "has the name ''; use small letters, digits, - and _"),
        (["VERSION=NULL"], "has no version; give it one"),
        (["KIND=7"], "has kind 7; use PENUMBRA_POINT or PENUMBRA_AREA"),
        (["FORMATS=PENUMBRA_U8"], "does not take 32-bit floats; add PENUMBRA_F32 to formats"),
        (["KIND=PENUMBRA_AREA"], "must have either a halo or a region_of_interest, as it is an area filter"),
        (["HALO=vast"], "has geometry but is a point filter; make it PENUMBRA_AREA"),
        (["RENDER=NULL"], "has no render function; give it one"),
        (
            ["PARAMETER={.name=\"edge\",.summary=\"e\"}"],
            "names a parameter twice, or as one that the host adds; rename it"
        ),
        (
            ["PARAMETER={.name=\"a\",.maximum=1,.fallback=2,.summary=\"a\"}"],
            "gives 'a' a range without its fallback; set minimum, maximum and fallback"
        ),
        (["PARAMETER={.name=\"a\",.kind=3,.summary=\"a\"}"], "gives 'a' no choices; add some, and NULL at their end"),
        (["PARAMETER={.name=\"a\",.kind=8,.summary=\"a\"}"], "gives 'a' the unknown kind 8; see penumbra_plugin.h"),
        (["PARAMETER={.name=\"a\"}"], "has no summary for 'a'; give it one"),
        (
            ["PARAMETER={.name=\"a\",.maximum=1,.summary=\"a\",.needed=\"b\"}"],
            "says that 'a' needs 'b', without words that this one has; correct needed_words"
        ),
        (
            ["PARAMETER={.name=\"a\",.kind=3,.summary=\"a\",.choices=(const char *const[]){\"b\",\"\",0}}"],
            "has an empty word in its choices for 'a'; give it letters, or remove it"
        ),
    ]

    @Test(arguments: flaws)
    func `a flawed description is one clear sentence, and the rest works`(
        flaw: (defines: [String], problem: String)
    ) throws {
        let path = try fixture.build("flawed", flaw.defines)
        try fixture.build("spread")
        let (plugins, problems) = fixture.load()
        #expect(problems == ["plugin \(path) \(flaw.problem)"])
        #expect(plugins.map(\.name) == ["spread"])
    }

    /// Texts that would do something to a terminal, and what they are called.
    private static let unruly: [(define: String, what: String)] = [
        ("NAME=\"a\\nb\"", "name"), ("VERSION=\"1\\r\"", "version"), ("SUMMARY=\"\\033[31mred\"", "summary"),
        ("SUMMARY=\"exe\\342\\200\\256gpj\"", "summary"), ("SUMMARY=\"a\\357\\273\\277\"", "summary"),
        ("PARAMETER={.name=\"a\\t\",.summary=\"a\"}", "parameter name"),
        ("PARAMETER={.name=\"a\",.maximum=1,.summary=\"a\\342\\200\\250\"}", "summary for 'a'"),
        ("PARAMETER={.name=\"a\",.maximum=1,.summary=\"a\",.unit=\"\\302\\233m\"}", "unit for 'a'"),
        (
            "PARAMETER={.name=\"a\",.kind=3,.summary=\"a\",.choices=(const char *const[]){\"b\\177\",0}}",
            "choices for 'a'"
        ),
        ("PARAMETER={.name=\"a\",.maximum=1,.summary=\"a\",.needed=\"b\\n\"}", "needed parameter for 'a'"),
        (
            "PARAMETER={.name=\"a\",.maximum=1,.summary=\"a\",.needed=\"b\",.needed_words=(const char *const[]){\"\\a\",0}}",
            "needed words for 'a'"
        ),
    ]

    @Test(arguments: unruly)
    func `no text of a plugin has control characters in it`(text: (define: String, what: String)) throws {
        let path = try fixture.build("flawed", [text.define])
        #expect(
            fixture.load().problems == [
                "plugin \(path) has a line break or control character in its \(text.what); write it in one line of text"
            ])
    }

    @Test func `a text of a plugin is no longer than coordinators take`() throws {
        let path = try fixture.build("flawed", ["SUMMARY=\"\(String(repeating: "x", count: 1001))\""])
        #expect(
            fixture.load().problems == [
                "plugin \(path) has a summary of 1001 bytes; shorten it to at most 1000"
            ])
    }

    /// Whoever opens a pipe that nobody writes to waits for ever.
    @Test(.triesPlugins) func `a named pipe is not opened`() throws {
        let path = fixture.folder.file("liba.so")
        try #require(mkfifo(path, 0o600) == 0)
        try fixture.build("spread")
        let words = "is not a regular file, so it is not used; remove it, or give it another name"
        let pin = PluginPolicy.Pin(file: "liba.so", sha256: "0")
        for policy in [PluginPolicy(), PluginPolicy(pins: [pin])] {
            let (plugins, problems) = fixture.load(policy: policy, trial: PluginTrial())
            #expect(plugins.map(\.name) == ["spread"])
            #expect(problems == ["plugin \(path) \(words)"])
        }
        #expect(fixture.load(policy: PluginPolicy(isPinnedOnly: true)).problems.first == "plugin \(path) \(words)")
        #expect(fixture.load(isImplicit: true).problems == [])
        #expect(SHA256.digest(ofFile: path) == nil)
        var outcomes: [FilterContract.Outcome] = []
        PluginCheck.run(path) { _ in
        } report: { _, outcome in
            outcomes.append(outcome)
        }
        #expect(outcomes == [.broken("it \(words)")])
    }

    @Test func `of two plugins with one name the first stays`() throws {
        let first = try fixture.build("spread", as: "libA.so")
        let second = try fixture.build("spread", as: "libB.so")
        let (plugins, problems) = fixture.load()
        #expect(plugins.map(\.path) == [first])
        #expect(
            problems == [
                "plugin \(second) is not used, because \(first) comes first and has a filter 'spread', too; remove one of them, or "
                    + "ignore this while you try the first"
            ])
    }

    @Test func `no plugin replaces a built-in filter`() throws {
        let path = try fixture.build("spread")
        let (plugins, problems) = fixture.load(reservedNames: ["gaussian", "spread"])
        #expect(plugins.isEmpty)
        #expect(problems == ["plugin \(path) names its filter 'spread', which is Penumbra's own; rename it"])
    }

    @Test func `a library without the entry is a problem only where somebody put it for a plugin`() throws {
        let source = fixture.folder.file("stranger.c")
        try "int stranger(void) { return 0; }".write(toFile: source, atomically: true, encoding: .utf8)
        let path = fixture.folder.file("libstranger.so")
        let compiler = try Process.run(
            URL(fileURLWithPath: "/usr/bin/env"), arguments: ["cc", "-shared", "-fPIC", source, "-o", path])
        compiler.waitUntilExit()
        #expect(
            fixture.load().problems == [
                "plugin \(path) does not export penumbra_plugin_entry; move it elsewhere if it is no plugin"
            ])
        #expect(fixture.load(isImplicit: true).problems == [])
    }

    @Test func `a file that is no library is named with the loader's reason`() throws {
        let path = fixture.folder.file("libtext.so")
        try "no library".write(toFile: path, atomically: true, encoding: .utf8)
        let problems = fixture.load().problems
        #expect(problems.count == 1)
        #expect(problems[0].hasPrefix("plugin \(path) cannot be opened ("))
        #expect(problems[0].hasSuffix("); build it on this machine, with its libraries installed"))
    }

    @Test func `a library that changes the floating-point mode while it is opened changes it for nobody else`() throws {
        try fixture.build("start", ["START=fesetround(FE_UPWARD);"])
        _ = fixture.load()
        #expect(fegetround() == FE_TONEAREST)
    }

    @Test func `other files are not looked at`() throws {
        try fixture.build("spread", as: "spread.so")
        try fixture.build("spread", as: "libspread.so.bak")
        let (plugins, problems) = fixture.load()
        #expect(plugins.isEmpty)
        #expect(problems == [])
    }

    @Test func `a file that every user may write is not run`() throws {
        let path = try fixture.build("spread")
        try FileManager.default.setAttributes([.posixPermissions: 0o757], ofItemAtPath: path)
        let (plugins, problems) = fixture.load()
        #expect(plugins.isEmpty)
        #expect(
            problems == ["plugin \(path) may be written by every user, so it is not used; run chmod o-w on it"])
    }

    @Test func `nothing in a folder that every user may write is run`() throws {
        try fixture.build("spread")
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: fixture.folder.path)
        let (plugins, problems) = fixture.load()
        #expect(plugins.isEmpty)
        let folder = fixture.folder.path
        #expect(
            problems == [
                "plugin folder \(folder) may be written by every user, so it is not used; run chmod o-w on it"
            ])
    }

    @Test(.enabled(if: geteuid() == 0, "files of another user take root"), arguments: [true, false])
    func `nothing of another user is run out of a folder that only a shard names`(isFolder: Bool) throws {
        let path = try fixture.build("spread")
        let folder = fixture.folder.path
        chown(isFolder ? folder : path, 12345, 12345)

        let found = PluginLoader(reservedNames: []).load([PluginFolder(folder, isForeign: true)])
        #expect(found.plugins.isEmpty)
        #expect(
            found.problems == [
                "plugin \(isFolder ? "folder \(folder)" : path) belongs to another user (uid 12345), and only a shard names "
                    + "it, so it is not used; name its folder in this machine's settings if it is to be"
            ])
        #expect(PluginLoader(reservedNames: []).load([PluginFolder(folder)]).plugins.map(\.name) == ["spread"])
    }

    @Test func `a user's own plugins are run out of a folder that only a shard names`() throws {
        try fixture.build("spread")
        let found = PluginLoader(reservedNames: []).load([PluginFolder(fixture.folder.path, isForeign: true)])
        #expect(found.plugins.map(\.name) == ["spread"])
    }

    @Test func `a link does not hide where a library lies`() throws {
        let open = try PluginFixture()
        try open.build("spread")
        let path = fixture.folder.file("libspread.so")
        try FileManager.default.createSymbolicLink(
            atPath: path, withDestinationPath: open.folder.file("libspread.so"))
        #expect(fixture.load().plugins.map(\.name) == ["spread"])
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: open.folder.path)
        let (plugins, problems) = fixture.load()
        #expect(plugins.isEmpty)
        #expect(problems.count == 1)
        #expect(problems[0].hasPrefix("plugin \(path) lies in "))
        #expect(
            problems[0].hasSuffix(
                ", which every user may write to, so it is not used; run chmod o-w on that folder"))
    }

    @Test func `a missing folder is a problem only when somebody named it`() {
        let named = PluginLoader(reservedNames: []).load([PluginFolder("/nowhere")])
        #expect(
            named.problems == [
                "plugin folder /nowhere cannot be read (No such file or directory); "
                    + "correct the path in the list of plugin folders"
            ])
        let implicit = PluginLoader(reservedNames: []).load([PluginFolder("/nowhere", isImplicit: true)])
        #expect(implicit.problems == [])
    }

    @Test func `a folder that is listed twice gives its plugins once`() throws {
        try fixture.build("spread")
        let folder = PluginFolder(fixture.folder.path)
        let loaded = PluginLoader(reservedNames: []).load([folder, folder])
        let (plugins, problems) = (loaded.plugins, loaded.problems)
        #expect(plugins.map(\.name) == ["spread"])
        #expect(problems == [])
    }
}
