import Foundation
import Glibc
import Notifications
import Queueing
import TestSupport
import Testing

/// Mails that a program takes which stands in for sendmail.
@Suite struct SendmailTests {
    let folder: TemporaryFolder
    private var program: String { folder.file("sendmail") }

    init() throws { folder = try TemporaryFolder() }

    private func write(_ script: String) throws {
        try writeProgram("#!/bin/sh\n\(script)\n", to: program)
    }

    private var message: MailMessage {
        MailMessage(
            MailDigest.Batch([.make(failures: [".", "a.jpg: empty"])]), to: "ops@example.org", id: "x",
            sent: WallTime(seconds: 1_795_672_805))
    }

    private func read(_ name: String) -> String? { try? String(contentsOfFile: folder.file(name), encoding: .utf8) }

    @Test func `sendmail gets the whole mail, and takes the address from it`() async throws {
        try write("echo \"$@\" >'\(folder.file("arguments"))'; cat >'\(folder.file("mail"))'")
        #expect(await MailSender(program: program).send(message) == .delivered)
        #expect(read("arguments") == "-t -oi\n")
        #expect(read("mail") == message.text)
    }

    @Test func `a mail system that is busy is tried again, and one that refuses is not`() async throws {
        try write("echo 'queue is full' >&2; exit 75")
        #expect(
            await MailSender(program: program).send(message)
                == .later("\(program) ended with exit code 75: queue is full"))
        try write("echo 'no such user'; exit 67")
        #expect(
            await MailSender(program: program).send(message)
                == .refused("\(program) ended with exit code 67: no such user"))
        try write("kill -TERM $$")
        #expect(await MailSender(program: program).send(message) == .later("\(program) ended with signal 15"))
    }

    @Test func `what it prints is shown without control characters`() async throws {
        try write("printf 'a\\033[2Jb\\n\\n  c' >&2; exit 1")
        #expect(
            await MailSender(program: program).send(message)
                == .later("\(program) ended with exit code 1: a\\u{1b}[2Jb; c"))
    }

    @Test func `one that hangs is ended at its limit, with its children`() async throws {
        try write("sleep 1000 & echo $! >'\(folder.file("child"))'; wait")
        let delivery = await MailSender(program: program, limit: .seconds(1)).send(message)
        #expect(delivery == .later("\(program) took too long, and was ended"))
        let written = try #require(read("child"))
        let child = try #require(pid_t(written.filter(\.isNumber)))
        while isAlive(child) { usleep(1000) }
    }

    @Test func `one that prints without end is ended`() async throws {
        try write("yes")
        #expect(
            await MailSender(program: program).send(message) == .later("\(program) printed too much, and was ended"))
    }

    @Test func `without a mail system the words say what to do`() async {
        #expect(
            await MailSender(program: "/nowhere/sendmail").send(message)
                == .later(
                    "/nowhere/sendmail: there is no such program\n   = install a mail system, or name its program in the "
                        + "config file: notifications: {sendmail: PATH}"))
    }
}
