import Testing

@testable import LarderOffline

@Suite("What downloads have learned about a service", .timeLimit(.minutes(5)))
struct QueryMemoryTests {
  @Test("The memory of an earlier version is read, and written under the same names")
  func names() throws {
    let text = """
      {"countIsWrong":false,"givesNoDeltaLink":true,"pagesItself":false,"refusesCount":true,"refusesPageSize":true,\
      "refusesTracking":true,"refusesWindows":true,"speaksAtom":false,"unusableDeltas":2,"wasOnePage":true}
      """
    let memory = try #require(JSONSettings.decode(QueryMemory.self, text))
    #expect(memory.rejectsTracking && memory.rejectsCount && memory.rejectsWindows && memory.rejectsPageSize == true)
    #expect(memory.givesNoDeltaLink && memory.unusableDeltas == 2 && memory.wasOnePage && !memory.countIsWrong)
    #expect(JSONSettings.encode(memory) == text)
  }
}
