import Foundation
import LarderOData
import LarderTestSupport

/// Asks both sides the same questions.
struct SameAnswerRun {
  let name: String
  let service: any AnswersQuestions
  let store: any AnswersQuestions
  let excuses: [Excuse]
  let floating: QuestionData.Floating
  let model: EdmModel
  /// How many questions: `LARDER_QUERIES`, else the given number.
  let count: Int
  /// How many were asked, up to the last finding.
  private(set) var asked = 0
  private(set) var compared = 0
  private(set) var refusedByService = 0
  private(set) var refusals: [String: Int] = [:]
  private(set) var excused: [String: Int] = [:]
  private(set) var findings: [Finding] = []

  /// A question with different answers, as small as it could be made.
  struct Finding: CustomStringConvertible {
    let number: Int
    let original: String
    let question: String
    let service: QuestionAnswer
    let store: QuestionAnswer
    let differences: [AnswerDifference]
    /// How the server may have understood it, and what differs then.
    var understood = ""

    var description: String {
      """
      question \(number): \(question)
        found as: \(original)
        service: \(service.text(1200))
        store:   \(store.text(1200))
        \(differences.prefix(6).map(\.description).joined(separator: "\n  "))
        \(understood)
      """
    }
  }

  init(
    _ name: String, service: any AnswersQuestions, store: any AnswersQuestions, excuses: [Excuse], count: Int,
    floating: QuestionData.Floating = QuestionData.Floating(), model: EdmModel = EdmModel(version: .v4, schemas: [])
  ) {
    self.floating = floating
    self.model = model
    self.name = name
    self.service = service
    self.store = store
    self.excuses = excuses
    let asked = ProcessInfo.processInfo.environment["LARDER_QUERIES"].flatMap { Int($0) }
    self.count = asked ?? count
  }

  /// Asks them all; ends early after so many findings.
  mutating func run(_ writer: inout QuestionWriter, atMost most: Int = 12) async {
    var known: Set<String> = []
    for number in 1...max(1, count) {
      let question = writer.next()
      guard !question.path.isEmpty else { continue }
      self.asked += 1
      guard let found = await differences(question, counting: true) else { continue }
      let smallest = await smallest(question, found)
      // One finding a cause, as far as the question's form tells.
      guard known.insert(SameAnswerRun.form(smallest.0.root.text)).inserted else { continue }
      findings.append(
        Finding(
          number: number, original: question.path, question: smallest.0.path,
          service: await service.answer(smallest.0.path), store: await store.answer(smallest.0.path),
          differences: smallest.1, understood: await understanding(smallest.0)))
      if findings.count >= most { break }
    }
    print(summary)
  }

  var summary: String {
    var text = "\(name): \(compared) of \(asked) questions compared, \(refusedByService) refused by the service"
    for (id, times) in excused.sorted(by: { $0.key < $1.key }) { text += "\n  excused \(times) times: \(id)" }
    for (why, times) in refusals.sorted(by: { $0.value > $1.value }).prefix(8) {
      text += "\n  the service refused \(times) times: \(why)"
    }
    return text + (findings.isEmpty ? "" : "\n  \(findings.count) findings")
  }

  /// What is not excused; nil where nothing is left, or where the service does not answer.
  private mutating func differences(_ question: Question, counting: Bool) async -> [AnswerDifference]? {
    let text = question.root.text
    let truth = await service.answer(question.path)
    if case .refused(let why) = truth {
      if counting {
        refusedByService += 1
        refusals[String(why.prefix(110)), default: 0] += 1
      }
      return nil
    }
    if counting { compared += 1 }
    let (spelled, spellings) = spelled(truth, text)
    let plain = left(spelled, await store.answer(question.path), question, text)
    if plain.differences.isEmpty {
      if counting { count(plain.excuses + spellings) }
      return nil
    }
    // What the server has understood, by all of its faults: the answer to that must be this one.
    var reading = QuestionReading()
    for case .question(let change) in excuses.map(\.makes) { change(&reading) }
    let understood = question.path(reading)
    guard understood != question.path else { return plain.differences }
    let other = left(spelled, await store.answer(understood), question, text)
    guard other.differences.isEmpty else { return plain.differences }
    if counting { count(other.excuses + spellings + readings(question)) }
    return nil
  }

  private func understanding(_ question: Question) async -> String {
    var reading = QuestionReading()
    for case .question(let change) in excuses.map(\.makes) { change(&reading) }
    let path = question.path(reading)
    guard path != question.path else { return "" }
    let (spelled, _) = spelled(await service.answer(question.path), question.root.text)
    let other = left(spelled, await store.answer(path), question, question.root.text)
    return "understood as \(path): " + other.differences.prefix(3).map(\.description).joined(separator: "\n  ")
  }

  private mutating func count(_ excuses: [String]) { for id in Set(excuses) { excused[id, default: 0] += 1 } }

  /// The server's answer in the right words, and the excuses that it took.
  private func spelled(_ answer: QuestionAnswer, _ text: String) -> (QuestionAnswer, [String]) {
    var answer = answer
    var used: [String] = []
    for excuse in excuses {
      guard case .answer(let spell) = excuse.makes else { continue }
      let right = spell(text, answer, model)
      if right != answer { used.append(excuse.id) }
      answer = right
    }
    return (answer, used)
  }

  /// The excuses by which a question alone is read otherwise.
  private func readings(_ question: Question) -> [String] {
    excuses.compactMap { excuse in
      guard case .question(let change) = excuse.makes else { return nil }
      var reading = QuestionReading()
      change(&reading)
      // Beside the one without faults: that may say the same in other words too, as with `not`.
      return question.path(reading) == question.path(QuestionReading()) ? nil : excuse.id
    }
  }

  private func left(
    _ truth: QuestionAnswer, _ ours: QuestionAnswer, _ question: Question, _ text: String
  ) -> (differences: [AnswerDifference], excuses: [String]) {
    let all = AnswerComparison.differences(
      service: truth, store: ours, ordered: question.root.ordered(), tolerance: tolerance(text), floating: floating,
      property: text.prefix { $0 != "?" }.split(separator: "/").last { $0 != "$value" }.map(String.init) ?? "")
    var used: [String] = []
    let left = all.filter { difference in
      let excuse = excuses.first { excuse in
        if case .difference(let covers) = excuse.makes { covers(text, difference) } else { false }
      }
      if let excuse { used.append(excuse.id) }
      return excuse == nil
    }
    return (left, used)
  }

  /// The standard leaves the type of an average and of a quotient to the service (Data Aggregation 3.1.3.4).
  func tolerance(_ text: String) -> Double {
    if text.contains("$compute=") || text.contains("$apply="), text.contains("Single") { return 1e-6 }
    // In which order doubles are added is nobody's business.
    if floating.doubles.contains(where: { text.contains("\($0) with sum ") }) { return 1e-9 }
    return [" with average ", " div ", " divby "].contains { text.contains($0) } ? 1e-9 : 0
  }

  private mutating func smallest(_ question: Question, _ found: [AnswerDifference]) async
    -> (Question, [AnswerDifference])
  {
    var best = (question, found)
    var tries = 300
    var goesOn = true
    while goesOn {
      goesOn = false
      for root in best.0.root.smaller().sorted(by: { $0.text.utf8.count < $1.text.utf8.count }) {
        guard tries > 0 else { return best }
        tries -= 1
        let candidate = Question(root: root)
        guard let differences = await differences(candidate, counting: false) else { continue }
        best = (candidate, differences)
        goesOn = true
        break
      }
    }
    return best
  }

  /// The text without its literals and numbers.
  static func form(_ text: String) -> String {
    var form = ""
    var isQuoted = false
    for character in text {
      if character == "'" {
        isQuoted.toggle()
        form += isQuoted ? "'" : ""
      } else if !isQuoted, !character.isNumber {
        form.append(character)
      }
    }
    return form
  }
}
