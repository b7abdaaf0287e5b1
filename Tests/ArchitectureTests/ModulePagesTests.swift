import Testing

@Suite("Pages of modules", .timeLimit(.minutes(5)))
struct ModulePagesTests {
  @Test("The topics of each module's page list every public type of the module")
  func complete() throws {
    let list = try #require(SourceFile.all(below: ["docs/public-api.txt"]).first).text
    let types = ModulePages.types(in: list)
    let pages = SourceFile.all(below: ["docs/Larder.docc"], extensions: ["md"]).filter { $0.text.hasPrefix("# ``") }
    let modules = pages.map { String($0.path.split(separator: "/")[2].dropLast(3)) }
    #expect(Set(modules).isSuperset(of: types.keys) && types.count > 10)
    for (module, page) in zip(modules, pages) {
      let topics = ModulePages.topics(of: page.text)
      #expect(!topics.isEmpty, "\(module) has no topics")
      let missing = types[module, default: []].subtracting(topics).sorted()
      #expect(missing.isEmpty, "\(module): \(missing.joined(separator: ", "))")
    }
  }

  @Test("Only types that are in no other type count, and only links in the topics")
  func samples() {
    let list = """
      LarderA class Store
      LarderA enum Store.Kind
      LarderA enum.case Policy.none
      LarderA method Store.open()
      LarderA protocol Transport
      LarderB struct Value
      """
    #expect(ModulePages.types(in: list) == ["LarderA": ["Store", "Transport"], "LarderB": ["Value"]])
    let page = "# ``LarderA``\n\n- ``Store``\n\n## Topics\n\n### Stores\n\n- ``Transport``\n- <doc:Errors>\n``Other``\n"
    #expect(ModulePages.topics(of: page) == ["Transport"])
    #expect(ModulePages.topics(of: "# ``LarderA``\n\n- ``Store``\n").isEmpty)
  }
}
