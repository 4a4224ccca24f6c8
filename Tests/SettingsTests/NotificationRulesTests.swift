import JobModel
import Settings
import Testing

@Suite struct NotificationRulesTests {
    private func settings(_ text: String) throws -> Settings {
        try Settings(
            Settings.Flags(),
            Settings.LaunchEnvironment(
                environment: [:], currentFolder: "/work", programFolder: "/opt/penumbra/bin", cores: 8,
                memory: 10_000_000_000, homeFolder: "/home/ada"
            ) { $0 == "/etc/penumbra/penumbra.yaml" ? .bytes(Array(text.utf8)) : .nothing })
    }

    private func problem(_ text: String) -> String? {
        #expect(throws: Settings.LoadError.self) { try settings(text) }?.message
    }

    @Test func `nobody is told by default`() throws {
        let settings = try settings("workers: 2\n")
        #expect(settings.onEnd.value.isEmpty && settings.onFailure.value.isEmpty && settings.late.value.isEmpty)
        #expect(settings.sendmail.value == "/usr/sbin/sendmail")
        #expect(settings.onEnd.origin == .standard)
    }

    @Test func `targets are mails and webhooks, one or several`() throws {
        let settings = try settings(
            """
            on_end: {webhook: 'https://hooks.example.org/a?b=c', secret_file: hook.secret}
            on_failure:
              - mail: ops@example.org
              - {mail: root}
              - webhook: http://127.0.0.1:8080/x

            """)
        #expect(
            settings.onEnd.value == [
                .webhook(address: "https://hooks.example.org/a?b=c", secretFile: "/etc/penumbra/hook.secret")
            ])
        #expect(
            settings.onFailure.value == [
                .mail("ops@example.org"), .mail("root"), .webhook(address: "http://127.0.0.1:8080/x", secretFile: nil),
            ])
        #expect(settings.onFailure.origin == .file("/etc/penumbra/penumbra.yaml"))
        #expect(settings.onEnd.value.map(\.shown) == ["webhook hooks.example.org"])
        #expect(
            settings.onFailure.value.map(\.shown) == ["mail ops@example.org", "mail root", "webhook 127.0.0.1:8080"])
    }

    @Test func `an expectation has its own targets, or those of failures`() throws {
        let settings = try settings(
            """
            on_failure: {mail: ops@example.org}
            notifications:
              sendmail: bin/mailer
              late:
                - {job: archive, expect_by: 06:00}
                - job: web
                  expect_by: 23:30
                  zone: Europe/Berlin
                  to: {mail: web@example.org}

            """)
        #expect(settings.sendmail.value == "/etc/penumbra/bin/mailer")
        #expect(
            settings.late.value == [
                ExpectedSuccess(job: "archive", minute: 360, zone: nil, targets: [.mail("ops@example.org")]),
                ExpectedSuccess(
                    job: "web", minute: 1410, zone: "Europe/Berlin", targets: [.mail("web@example.org")]),
            ])
        #expect(settings.late.value.map(\.time) == ["06:00", "23:30"])
    }

    @Test func `a text in place of a target is told with its caret`() {
        #expect(
            problem("on_end: ops@example.org\n") == """
                /etc/penumbra/penumbra.yaml:1:9: error: 'on_end' must be a mapping, not a single value
                1 | on_end: ops@example.org
                  |         ^^^^^^^^^^^^^^^
                  = write {mail: ops@example.org}, or {webhook: https://example.org/hook, secret_file: FILE}
                """)
    }

    @Test(arguments: [
        (
            "{secret: x}", 10, 6, "a secret is not written into the config file",
            "write it into a file that only you can read, and name that: secret_file: FILE"
        ),
        (
            "{}", 9, 2, "'on_end' has no webhook and no mail",
            "write {mail: ops@example.org}, or {webhook: https://example.org/hook, secret_file: FILE}"
        ),
        (
            "{mail: a@b, webhook: 'https://a'}", 9, 33, "'on_end' has both a webhook and a mail",
            "write each target as an item of its own: - {mail: ops@example.org}"
        ),
        ("{mail: a@b, secret_file: x}", 9, 27, "a mail has no secret", "leave out 'secret_file'"),
        ("{email: a@b}", 10, 5, "'on_end' has no key 'email'", "did you mean 'mail'?"),
        (
            "{mail: 'a@b, c@d'}", 16, 10, "'mail' needs an address of mail, and 'a@b, c@d' is none",
            "write it like ops@example.org, or the name of a user: root"
        ),
        (
            "{mail: -oQ/tmp}", 16, 7, "'mail' needs an address of mail, and '-oQ/tmp' is none",
            "write it like ops@example.org, or the name of a user: root"
        ),
        (
            "{webhook: 'ftp://a/b'}", 19, 11, "'webhook' needs an address, and 'ftp://a/b' is none",
            "write it like https://example.org/hook, in at most 2000 characters"
        ),
        (
            "{webhook: 'https:///b'}", 19, 12, "'webhook' needs an address, and 'https:///b' is none",
            "write it like https://example.org/hook, in at most 2000 characters"
        ),
    ])
    func `a wrong target is told with its caret and its remedy`(
        text: String, column: Int, length: Int, message: String, remedy: String
    ) {
        #expect(
            problem("on_end: \(text)\n") == """
                /etc/penumbra/penumbra.yaml:1:\(column): error: \(message)
                1 | on_end: \(text)
                  | \(String(repeating: " ", count: column - 1))\(String(repeating: "^", count: length))
                  = \(remedy)
                """)
    }

    @Test(arguments: ["6:00", "24:00", "06:60", "0600", "06:00:00", "-1:00", "６:00"])
    func `a time of day has two digits for hours and for minutes`(text: String) {
        let found = problem("notifications: {late: {job: a, expect_by: '\(text)', to: {mail: a@b}}}\n")
        #expect(found?.contains("error: 'expect_by' needs a time of day, and '\(text)' is none\n") == true)
        #expect(found?.hasSuffix("\n  = write hours and minutes: 06:00, or 23:30") == true)
    }

    @Test func `an expectation without anybody to tell is refused`() {
        #expect(
            problem("notifications:\n  late:\n    - {job: archive, expect_by: 06:00}\n") == """
                /etc/penumbra/penumbra.yaml:3:7: error: nobody would be told that 'archive' is late
                3 |     - {job: archive, expect_by: 06:00}
                  |       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
                  = add 'to: [{mail: ops@example.org}]', or a list 'on_failure'
                """)
        #expect(
            problem("notifications: {late: {job: a, expect_by: 06:00, to: []}}\n")?.contains("'to' is an empty list")
                == true)
        // Only the wrong list is reported, not what follows from it.
        let wrong = problem("on_failure: {mail: '-'}\nnotifications: {late: {job: a, expect_by: 06:00}}\n")
        #expect(wrong?.ranges(of: "error: ").count == 1)
    }

    @Test func `numbers of targets are bounded`() {
        let many = Array(repeating: "{mail: a@b}", count: 21).joined(separator: ", ")
        let found = problem("on_end: [\(many)]\n")
        #expect(found?.contains("error: 'on_end' has 21 targets\n") == true)
        #expect(found?.hasSuffix("\n  = write at most 20; a mailing list reaches many people") == true)
    }
}
