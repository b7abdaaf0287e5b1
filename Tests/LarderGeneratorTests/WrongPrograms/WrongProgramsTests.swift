import Testing

/// Programs that use generated types, as the compiler sees them.
@Suite("Wrong programs", .timeLimit(.minutes(5)))
struct WrongProgramsTests {
  @Test("the compiler rejects each program with a fault, and accepts the program without it")
  func faults() async throws {
    var files = try OrderService.files()
    for (number, program) in WrongPrograms.all.enumerated() {
      #expect(program.right != program.wrong, "\(program.fault): no fault")
      files["right\(number).swift"] = OrderService.file("right\(number)", program.right)
      files["wrong\(number).swift"] = OrderService.file("wrong\(number)", program.wrong)
    }
    var errors = Dictionary(
      grouping: try await Compiler().check(files).filter { $0.kind == "error" }, by: \.file
    ).mapValues { $0.map(\.text) }
    for (number, program) in WrongPrograms.all.enumerated() {
      let right = errors.removeValue(forKey: "right\(number).swift") ?? []
      #expect(right.isEmpty, "\(program.right)")
      let wrong = errors.removeValue(forKey: "wrong\(number).swift") ?? []
      #expect(!wrong.isEmpty, "\(program.fault) compiles: \(program.wrong)")
      let isExpected = wrong.contains { $0.contains(program.message) }
      #expect(wrong.isEmpty || isExpected, "\(program.wrong): \(wrong) instead of \(program.message)")
    }
    #expect(errors.isEmpty, "errors in generated files")
    #expect(WrongPrograms.all.count >= 30)
  }

  @Test("the expected messages are too long for other errors: they name types or members")
  func messages() {
    for program in WrongPrograms.all {
      #expect(program.message.count > 20 && program.message.contains(" "), "\(program.fault): \(program.message)")
    }
  }

  /// Milliseconds that the compiler may take for one expression.
  private let limit = 500

  @Test("the type checker is fast with long expressions")
  func speed() async throws {
    var files = try OrderService.files()
    for (name, statements) in LongExpressions.all { files["\(name).swift"] = OrderService.file(name, statements) }
    let slow = try await Compiler().check(files, options: LongExpressions.warning(afterMilliseconds: limit))
    #expect(slow.isEmpty, "\(slow)")
    // The option has an effect: an expression is above the lowest limit.
    let all = try await Compiler().check(files, options: LongExpressions.warning(afterMilliseconds: 1))
    #expect(all.contains { $0.kind == "warning" && $0.text.hasPrefix("expression took ") }, "\(all)")
  }

  @Test("an error without a place is no result")
  func failure() throws {
    for line in ["<unknown>:0: error: missing required module 'A'", "swiftc: error: no such file", "error: no input"] {
      #expect(throws: Compiler.Failure.self) { try Compiler.diagnostics(in: line) }
    }
    let text = "/a/b.swift:1:2: error: x\n  1 | y\n/c/d.swift:3:4: note: z\n"
    let diagnostics = try Compiler.diagnostics(in: text)
    #expect(diagnostics.map(\.file) == ["b.swift"] && diagnostics.map(\.text) == ["x\nz"])
  }
}
