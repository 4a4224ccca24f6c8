import Glibc
import SafeFiles
import Testing

@Suite struct SystemdUnitTests {
    private func remedy(_ path: String, _ code: Int32, in unit: SystemdUnit?) -> String? {
        FileError(path: path, code: code, action: "write in the folder").remedy(
            orChoose: "another output path", in: unit)
    }

    private let unit = SystemdUnit(name: "penumbra.service", user: "penumbra")

    @Test func `in a unit, a read-only folder is first a matter of ReadWritePaths`() {
        #expect(
            remedy("/srv/web", EROFS, in: unit) == """
                let penumbra.service write there: 'systemctl edit penumbra.service', [Service], ReadWritePaths= with the folder
                   = if it does already, mount the file system for writing, or choose another output path
                """)
        #expect(
            remedy("/srv/web", EROFS, in: nil)
                == "its file system is read-only: mount it for writing, or choose another output path")
    }

    @Test func `the user who may not write is named, and how a group may write`() throws {
        #expect(
            remedy("/srv/web", EACCES, in: unit)
                == "let the user 'penumbra' write there, or choose another output path")
        let user = try #require(getpwuid(geteuid()).flatMap { $0.pointee.pw_name }.map { String(cString: $0) })
        #expect(
            remedy("/srv/web", EACCES, in: nil) == """
                let the user '\(user)' write there, or choose another output path
                   = to let a group write there: chgrp GROUP FOLDER && chmod g+rwxs FOLDER
                """)
    }

    @Test(arguments: ["/home/ada/web", "/root", "/run/user/1000/x"])
    func `in a unit, a home folder may be hidden`(path: String) {
        #expect(
            remedy(path, EACCES, in: unit) == """
                let the user 'penumbra' write there, or choose another output path
                   = penumbra.service may see no files in /home and /root, because of ProtectHome=: use another folder
                """)
        #expect(unit.hint(about: "/homes/ada") == nil)
    }
}
