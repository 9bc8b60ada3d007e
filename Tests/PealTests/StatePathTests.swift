import Testing

@testable import peal

struct StatePathTests {
    @Test(arguments: [
        (["XDG_STATE_HOME": "/x", "HOME": "/h"], "/x/peal/mock"),
        (["HOME": "/h"], "/h/.local/state/peal/mock"),
        // A relative path is to be ignored (XDG Base Directory Specification).
        (["XDG_STATE_HOME": "x", "HOME": "/h"], "/h/.local/state/peal/mock"),
    ])
    func theStateFolderFollowsTheEnvironment(variables: [String: String], path: String) throws {
        #expect(try StatePath.folder("mock") { variables[$0] } == path)
    }

    @Test(arguments: [[:], ["XDG_STATE_HOME": "x"], ["HOME": ""]])
    func withoutAPlaceForItTheMessageSaysWhatToSet(variables: [String: String]) throws {
        let failure = try #require(throws: CommandFailure.self) {
            try StatePath.folder("mock") { variables[$0] }
        }
        #expect(failure.description.contains("set one of them"))
    }
}
