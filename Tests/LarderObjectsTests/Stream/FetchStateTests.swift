import Testing

@testable import LarderObjects

@Suite("Objects: a shared fetch as a state machine", .timeLimit(.minutes(5)))
struct FetchStateTests {
  private typealias State = FetchState<String, String>

  private func text(_ result: State.WaitResult) -> String {
    switch result {
    case .finished(let outcome): outcome
    case .waiting: "waiting"
    case .abandoned: "abandoned"
    }
  }

  @Test("Callers join, wait, and are resumed in the order in which they joined")
  func shared() {
    var state = State()
    let callers = (0..<3).compactMap { _ in state.join() }
    #expect(callers.count == 3)
    let (one, two, three) = (callers[0], callers[1], callers[2])
    #expect(text(state.wait(two, "two")) == "waiting")
    #expect(text(state.wait(one, "one")) == "waiting")
    #expect(state.finish("done") == ["one", "two"])
    #expect(text(state.wait(three, "three")) == "done")
    #expect(state.join() == nil)
    #expect(state.finish("again").isEmpty)
  }

  @Test("The fetch is cancelled when the last caller leaves, and no caller can join it then")
  func abandoned() {
    var state = State()
    let callers = (0..<2).compactMap { _ in state.join() }
    #expect(callers.count == 2)
    let one = callers[0]
    #expect(text(state.wait(one, "one")) == "waiting")
    #expect(state.stopWaiting(one) == "one")
    #expect(state.stopWaiting(one) == nil)
    #expect(state.leave() == false)
    #expect(state.leave() == true)
    #expect(state.join() == nil)
    #expect(text(state.wait(one, "one")) == "abandoned")
    #expect(state.finish("late").isEmpty)
  }

  @Test("Leaving after the end has no effect")
  func leavingLate() {
    var state = State()
    #expect(state.join() != nil)
    _ = state.finish("done")
    #expect(state.leave() == false)
  }
}
