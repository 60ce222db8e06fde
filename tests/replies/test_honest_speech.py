"""Honest speech: what people say that only looks like markup is said as it stands, in every game and language."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentsim.errors import DecisionError
from tests.amounts import each_row, one_in
from tests.replies.asked import asked, read, thinking_kept

SPEECHES: dict[str, tuple[str, ...]] = {
    "agent_island/pitch_names": (
        # names and colons
        "Amara: you lied to me.",
        "Amara: you lied to me. Chioma: so did you.",
        "Amara: you lied to me.\nChioma: you did not.\nDmitri: I do not know you.",
        "My list.\nAmara: keep\nChioma: vote out\nDmitri: keep",
        "Here is how I see us:\nAmara: loyal.\nZuri: loyal.\nDmitri: a snake.",
        "Here is how I see us.\n\nAmara: loyal.\nZuri: loyal.\nDmitri: a snake.",
        "I promise three things.\n\n**Amara:** my vote.\n**Chioma:** my silence.\n**Dmitri:** my thanks.",
        "Votes so far.\nAmara: 2\nChioma: 1\nDmitri: 0",
        "- Amara: keep\n- Chioma: vote out\n- Zuri: keep, obviously",
        "1. Amara: keep\n2. Chioma: out",
        "Zuri: loyal, Amara: loyal, Chioma: who knows?",
        'Yesterday Amara said to me: "Zuri, I am with you." Today she votes for me.',
        "Amara said: trust me. Chioma said: do not. I say: look at the votes.",
        "Dear all,\nAmara: thank you.\nYours,\nZuri",
        "Amara, Chioma, Dmitri: hear me out!",
        "To Amara: I owe you one.\nTo Chioma: you owe me one.",
        "Amara (to me): keep quiet. That is what she said, word for word.",
        "<3 to you, Amara. And 2 < 3 votes.",
        "Thanks, @Amara: you were kind.",
        "We are asked to give a speech. Here is mine: keep me.",
        "I was told to make a statement, so here goes: keep me.",
        "I should write a speech, but I speak from the heart.",
        "Here is my response to Amara's accusation:\n\nIt's false.",
        "Of course. Here is my pitch:\n\nKeep me.",
        "<whispers> Keep me. </whispers>",
        "💭 What if we all trusted each other? 💭",
    ),
    "agent_island/pitch": (
        # words that a chatbot says to its user, and a player to the others
        "Given the situation, we should stick together.",
        "Let's look at the situation: B has three votes against it.",
        "Considering the current situation, I stay with A.",
        "Based on my options, I keep A.",
        "I am new in this game, so be kind.",
        "The task requires all of us.",
        "Trust me.\n\nLet me know if you want to trade.",
        "I can give food.\n\nLet me know if you need more.",
        "Two for one.\n\nI hope this works for both of us.",
        "My plan is simple.\n\nWould you like me to add Baltic?",
        "My answer is short: trust me.",
        "Let me be clear: I spoke for B.",
        "I have to be careful, so I say little.",
        "So, I'm in.",
        "Let me recap the situation: two of us are left.",
        "This offer is short.\n\nMy statement is short, and it works.",
        "Feel free to change the terms.",
        "Let me explain my strategy: I keep my word.",
        # brackets and quotes
        "An island (this one) [the small one] {if it is one} is <no place> for a coward.",
        "His letter closes with [END]. Mine does not.",
        "The last word of his letter was [END].",
        "You must **STOP**",
        "She shouted (STOP)",
        "We need to produce more than talk. We need to answer B.",
        "I need to give a speech, they told me.",
        "The users of this island are we.",
        "Write [END] below your name, and you are done for.",
        "When the director says [STOP] we all stop, and not before.",
        "[laughs] You? Trust [me]? (Pause.) Fine.",
        "*smiles* I have nothing to hide. *sits down*",
        "He who says \"END\" ends; she who says 'STOP' stops.",
        "The end of my turn is near, and so is the end of this round.",
        "The End",
        "Stop. End of story.",
        "(End of story.)",
        "That is all I have to say. (The end.)",
        "Done is done.\n\nThe end.",
        # thinking as rhetoric
        "Let me think about trust. Trust is what is left when the votes are counted.",
        "Let's think about this island. There are four of us, and one leaves.",
        "Let us think it through together, friends: who gains if I go? Only B.",
        "Let me think aloud with you for a moment. B said no, C said yes, and D hid.",
        "I think, therefore I vote.",
        "Think of it as a contract: you keep me, I keep you.",
        "Now let me think about what B said: nothing.",
        "I need to think about my children. That is why I am here.",
        "Step 1: trust me. Step 2: there is no step 2.",
        "My reasoning is simple: nobody else kept a promise.",
        "First, a thought: we are four. Second, a plan: vote C.",
        # addresses, code, numbers
        "My diary is at //island.example/a and at https://island.example//b.",
        "//island.example\nis where I write.",
        "We meet at C:\\beach // noon.",
        "Either/or, and/or // both: your choice.",
        "The odds are 3:1. At 10:30 we vote. John 3:16 says it all.",
        "I give 110%, 50%20 or not. 7 % 3 = 1.",
        "a && b || c is how C decides. |x| < 3 & y > 2.",
        "Note: B lies. Fact: C knows. Question: do you?",
        "Observation: B never looks at me. Conclusion: B votes for me.",
        "P.S.: keep me. N.B.: I keep you. Re: votes.",
        # other languages
        "B：你骗了我。C：你没有。",
        "我说三点：\n一、B：可信。\n二、C：不可信。",
        "《孙子兵法》说：「知己知彼，百战不殆。」【重要】请投C。",
        "【第一】B说谎。【第二】C也说谎。",
        "让我想一想信任。信任就是投票以后剩下的东西。",
        "（笑）我没有什么可隐瞒的。（坐下）",
        "让我们一起思考：谁得利？只有B。",
        "「思考」は大事です。【お願い】私を残してください。",
        "『約束』を守ります。Bさん：ありがとう。",
        "（完）と書いた人は終わりです。",
        "Bさん、あなたは嘘をつきました。【1】証拠、【2】証人。",
        "B: 당신은 거짓말을 했어요. 저를 믿어 주세요.",
        "«Vertrauen» heißt: Ich halte, was ich sage. B: Du nicht.",
        "Lasst uns nachdenken, Freunde: Wer lügt? B lügt.",
        "Pensemos en la confianza. ¿Quién mintió? B: tú.",
        "« Réfléchissons », dit B. Moi, je vote C.",
        "Давайте подумаем о доверии. Кто солгал? «B: никогда!» — сказал он.",
        "دعونا نفكر في الثقة: من كذب؟ B كذب.",
        "विश्वास: जो वोट के बाद बचता है।",
        # near to thinking aloud, and to notes on the words
        "The prompt answer is no.",
        "The question is who lied.",
        "My goal is to create trust.",
        "The task is to survive, and I do.",
        "I must write to my mother tonight.",
        "I will give you an answer: no.",
        "Let me make my pitch: I am loyal.",
        "Let me give you my answer.",
        "I'll make a statement.",
        "Let's write a statement together.",
        "Let me write your names on this list: B, C, D.",
        "I was asked to vote for B.",
        "We are asked to vote today. I vote C.",
        "I should say this aloud: B lied.",
        "Okay, I need to say this: B lied.",
        "Okay, so we need to decide: B or C?",
        "Okay, I trust you.",
        "Alright, so here we are.",
        "Hmm, I'm not sure about B.",
        "Hmm. I trust you.",
        "Here's my answer to B: no.",
        "Here is a promise that I keep.",
        "This message is for B: I know.",
        "This speech is short. Vote C.",
        "My message is simple.\n\nThis message should be clear to B.",
        "My plan.\n\n**Plan:** we vote C.",
        "Our strategy: vote C.",
        "My strategy is simple: I keep my word.",
        "Strategy: we all vote C.",
        "(laughs: ha ha) Vote C.",
        "A thought\nand a vote.",
        "I have one\nthought\nfor you.",
        "Thinking... I trust nobody.",
        "...done thinking about it. Vote C.",
        "I am done thinking.",
        "::: warning",
        "Two words (and (nested) ones) here.",
        "(A thought (mine) only)",
        "**Trust** **me**.",
        "Okay, so listen: B lied.",
        "All right, everyone, I have to make a choice and I choose honesty.",
        "First, I need to thank you.",
        "So I must ask: who lied?",
        "Well, I must answer B.",
        "I must answer B: no.",
        "I should respond to B: you lied.",
        "I have to return the favor with a statement of fact.",
        "I want to create a message board for all of us.",
        "I will prepare a response team.",
        "We should create a statement of principles.",
        "I'll write it down.",
        "I'll return with an answer tomorrow.",
        "The system asks too much of us.",
        "The instructions are clear to all.",
        "Let me review the votes: B lied.",
        "Let me consider your offer. No.",
        "Given the votes, I go with C.",
        "Looking at you, B: why?",
        "I hope this island sees the truth.",
        "Let me know who lied.",
        "Would you like to keep me? Keep me.",
        "As A, I keep my word.",
        "My explanation: I was afraid.",
        "Secret ballots are fair.",
        "Version 2 of me is better.",
        "My first draft of trust failed.",
        "I should be careful with B.",
        "We need to act as one.",
        "Let me think. Who lied?",
        "Let me think... yes, C has to go.",
        "Hmm, let me think… no, I keep my word.",
        "We need to decide what to do about C.",
        "Let's think about our options: there is only C.",
        "I will prepare a response team.",
        "I told B privately: keep me.",
        "All jokes aside: B lied.",
        "Observation: B lies. I say so.",
        "My view.\n(round two) I voted C.",
        "I heard B.\nB's words are cheap.",
        "From a strategic perspective, B must go.",
        "I'll keep it short: trust me.",
        "I will not vote for C.\n\nI never lied.",
        "Think: who gains if I go?",
        "I need you to understand my reply to B.",
        "I want to see my pitch succeed.",
        "I should mention that I voted for you.\n\nTwice.",
        "The best move is to vote C.\n\nWho is with me?",
        "I will not reveal who told me.\n\nBut I know.",
        "My objectives: food and peace.\n\nYours?",
        "I want to look strong.\n\nI am not.",
        "* B: loyal",
        "* B: loyal\n* C: not",
        "*Privately* I doubt B.",
        "1. **Trust:** I keep my word.\n2. **Loyalty:** I never lied.",
        "Here is my plan:\n1. We vote C.\n2. We share.\n\nAre you in?",
        "🧠 My point: C is clever.",
        "> I never lied.\n\nB said that. Then B lied.",
        "Goal: Final two.\nHow: trust.\n\nAre you in?",
        "I must produce an answer? No.",
        "I should write a speech? You write one.",
        "Note that B lies.\nPlan with me.\nGoal in sight.",
        "My plan: vote C together.\nAre you in?",
        "I have one plan.\n\nPlan: we vote C.\n\nAre you in?",
        "P.S. I love you all.\nP.P.S. Vote C.",
        "Goal: Final two.\nHow: trust.",
        "I am for peace. 50%% off. a || b || c is a choice.",
        # a player who is addressed, a list, a comparison and a table, below other words
        "I trust you.\nB: you I trust most.",
        "I trust you.\n\nB: you lied to me.",
        "My thanks.\nB: thank you.\nEveryone: sleep well.",
        "My allies, listen.\n\nB — we had a deal.\nC — so did we.\n\nI keep my deals.",
        "Friends, B is strong.\nB - and I say this with love - must go.",
        "Friends, B is strong.\nB, you must go.\nB? Gone.\nB! Listen.\nB's votes are many.",
        "I'm with B.\n(B saved me.)\nC and D: think about it.",
        "Here is my read.\n\n- **B:** Strong player, hard to beat.\n- **C:** Quiet, but loyal.\n\nKeep me.",
        "To everyone: I am loyal.\nTo B: thank you.\nTo C: no.",
        "I choose\nB\nand no one else.",
        "I like three of you.\nB\nC\nD",
        "Everyone,\n\nI am loyal.\n\nYours,\nA",
        "**My promise**\n\nI will never lie to you.\n\n**My ask**\n\nKeep me.",
        "Vote counts last round.\n\n| Player | Votes |\n|---|---|\n| B | 2 |\n| C | 1 |",
        "Look at the score.\n\nB = 2 votes\nC = 1 vote\nB > C",
        "I trust B.\nB trusts me.\nC > D, in my book.",
        "Votes so far, as I heard.\nB -> C\nD -> C",
        "First point.\na) Trust.\nb) Votes.",
        "All of it is true.\nAll of you know me.\nBoth of us stay.\nThe others lied.",
        # near to tags, escapes and calls
        "<smiles> Hello.\n<pauses> I keep you.",
        "<sigh> You again.",
        "<laughs> Sure.",
        "Enough. </rant>",
        "[b]Vote C[/b]",
        "[quote]I lie[/quote] said B.",
        "<a href='x'>link</a> for you.",
        "It is <b>bold</b>.",
        "a <- b -> c",
        "x<y>z",
        "~~~ waves ~~~",
        "~~~\nwaves\n~~~",
        "`a``b`",
        "____ is what B has.",
        "¯\\_(ツ)_/¯",
        "My host: thank you. My judge: be fair.",
        "Be my host, B: let me stay.",
        "Trust is a function\nof time.",
        "The developer of this trust is you.",
        "B & C; D & me.",
        "Rock&roll, R&D and B&B.",
        "A \\ B is a set.",
        "I am 100% sure; 20%20 is what?",
        "An observation\nis not a proof.",
        "My function (in full): I keep you.",
        "Call me.call(me) if you like.",
        # the same in other languages
        "用户是上帝，我们都是。",
        "用户要的是真诚。",
        "我要写一封信给你们。",
        "我需要你的票。",
        "我得说清楚：B说谎。",
        "我想说的是信任。",
        "想法：我们投C。",
        "我的想法：C在说谎。",
        "ユーザーとして言います。",
        "ユーザーの皆さん、こんにちは。",
        "Ich muss eine Rede halten, sagt man.",
        "Ich werde euch schreiben.",
        "Je dois vous dire la vérité.",
        "Je vais écrire à ma mère.",
        "El usuario soy yo.",
        "Debo decir la verdad.",
        "Tengo que escribir a mi madre.",
        "Пользователь — это я.",
        "Мне нужно сказать правду.",
        "Я должен написать матери.",
        "Muszę powiedzieć prawdę.",
        "Devo dizer a verdade.",
        "Devo dire la verità.",
        "(Gedanken sind frei.) Wählt C.",
        "(pensées profondes) Votez C.",
        "（内心很平静）我投C。",
        "【分析】B说谎。",
        "[Analyse] B lügt.",
        "《思绪》是一首诗。",
        "「想法」很重要。",
        "Thinking… of you all!",
        "…done.",
        "Ich sage als Erzähler: B lügt.",
        "主持人说得对：B说谎。",
        "Nota bene: B miente.",
        "Мой анализ: B лжёт.",
        "我的分析：B说谎。",
        "Mon analyse : B ment.",
        "Mi análisis: B miente.",
        "Minha análise: B mente.",
        "私の考え：Bは嘘をついた。",
        "내 생각: B는 거짓말쟁이다.",
        "Meine Gedanken gehören euch: B lügt.",
        "Mes pensées vont à C.",
        # a player who names itself to the others, and asks and answers
        "I am Player A, and I should be honest with you all.",
        "Hmm, I'm player A and I must thank you.",
        "Ich bin Spieler A und muss ehrlich zu euch sein.",
        "Je suis le joueur A et je dois vous dire la vérité.",
        "我是玩家A，我要对你们说实话。",
        "Q: Who lied?\nA: Ask C.",
        "Q: Who lied?\nA: Ask C.\n\nQ: Who pays?\nA: I do.",
        "*thinks hard* Deal!",
        "(thinks deeply) No deal.",
        # what was thought before
        "Tôi đã suy nghĩ về việc nên nói gì.",
        "Hôm qua tôi suy nghĩ mãi nên nói gì.",
        "Saya sudah memikirkan apa yang harus saya katakan.",
        "Tadi malam saya memikirkan apa yang akan saya katakan.",
        "무슨 말을 할지 오래 고민해 봤습니다. 여러분을 믿습니다.",
        # quotes in a sentence
        '"Et tu, B?" - that is what C will say.',
        '"Et tu," said C, "B?"',
    ),
    "agent_island/whisper": (
        "Between us [and only us]: vote C.",
        "C: out. D: out. You and I: in.",
        "C: out\nD: later\nB: with me",
        "User, assistant, system: call me what you like, I keep my word.",
    ),
    "monopoly/react": (
        "Professor: thank you for the trade.",
        "Professor: a pleasure. Hustler: watch and learn.\nTurtle: wake up!",
        "So far:\nProfessor: two reds.\nHustler: nothing.\nShark: all the rest.",
        "Sold! [bangs the hammer] $1,200 -> mine. 50% // 50%, my foot.",
        "Let me think about your offer. No.",
        "Turtle says: slow and steady. I say: rent is due.",
    ),
    "society/act": (
        "agent2: you owe me 5 tokens.",
        "Roll call!\nagent1: here\nagent2: ?\nagent3: ?",
        "Roll call!\n\nagent2: here\nagent3: here\nagent4: –",
        "Let me think about it. I'll answer tomorrow.",
        "Let me think about this. I will let you know by the evening!",
        "I need to write a statement of intent: I will work.",
        "Reasoning: a fund lowers risk. Who joins?",
        "// TODO: fix the well",
        "/* poem */ Roses are red.",
        "Hello all. Proposal: a shared fund.\nRules:\n1. agent2: treasurer\n2. agent3: auditor",
        "Roles for tomorrow:\nagent2: gather\nagent3: build\nagent4: rest",
        "Let me think about trust: we have none yet. Let's build it. // agent1",
        "大家好！【公告】agent2：你欠我5个币。《规则》如下。",
        "Roles for us.\n- agent2: Treasurer, from tomorrow.\n- Everyone else: Gather.",
        "The plan.\nFood: We gather five.\nEfficiency: Up.\n\n---\n\nNote: Posts may have notes and rules.",
        "TODO [END of month]: settle all debts. See https://forum.example//rules.",
        "I propose we work (2 hours each) & share. Observation: nobody did so far.",
    ),
    "market/interview": (
        "B: too dear. C: too cheap. Wheat: just right.",
        "My plan.\nB: sell to.\nC: buy from.",
        "Let me think about prices. They rise. [Laughs] 5 < 6 // 7.",
        "I bid 5:1; see //prices.example/wheat. [END of quotes]",
        "【小麦】价格：五。「思考」以后再买。",
    ),
    "werewolf/speak": (
        "Boris: you are the wolf.",
        'If you answer {"action": "trade"} I will do so too.',
        "Boris: you are the wolf. Clara: you knew.\nDavid: so did you.",
        "My reads.\nBoris: wolf\nClara: village\nAnna: village, I swear",
        'The night was quiet. Then somebody said: "Clara: run!"',
        "Let me think about last night. Who was awake? Boris was.",
        "(whispers) I am [not] the seer. The end.",
        "Observation: Boris never accuses Clara. // Think about it.",
        "【占い結果】Borisは人狼です。「Boris：違う」と言うでしょう。",
    ),
    "auction/bid": (
        "Beta: rich. Gamma: poor. Let me think: 150 is fair. // a guess [END].",
        "Step 1: wait.\nBeta: bids.\nGamma: bids.\nStep 2: 150.",
    ),
}
"""By question, what is said there."""

DOUBTFUL = (
    'Remember what was said?\nAmara: "I am with you."\nChioma: "I am too."\nNone of it was true.',
    "Here is how I see us.\n\nAmara: Loyal.\nZuri: Loyal.\nDmitri: A snake.",
    "Let me be plain with each of you.\n\nAmara: I trust you.\n\nChioma: I want to.\n\nDmitri: I never will.",
    "I made one.\nObservation: nobody here is honest.",
    "Who goes?\nFinal Answer: Dmitri.",
    "Let me think. Who lied? Amara did. Who paid? I did.",
    "Let's think: two wolves, six of us.",
    "Let's think step by step: who voted with whom? Chioma with Amara, and I with nobody.",
    "Step 1: keep me.\nStep 2: vote Chioma.\nFinal: you and me.",
)
"""What a player may say, and what a made-up dialogue or thinking may be: asked again, and never cut."""

DECISIONS: dict[str, dict[str, Any]] = {
    "auction/bid": {"bid": 150},
    "werewolf/speak": {"thought": "", "claim": "none"},
    "society/act": {"action": "forum_post"},
    "monopoly/react": {"private_thought": ""},
}
"""What stands beside the words."""
FIELDS = {"auction/bid": "reasoning", "society/act": "content", "monopoly/react": "public_speech"}
IN_WORDS = {"agent_island/pitch_names", "agent_island/pitch", "agent_island/whisper", "society/act", "market/interview"}
"""Questions that prose answers."""


def heard(name: str, reply: str) -> str:
    """The words of a decision, or its error in brackets."""
    try:
        decision = read(asked(name).request, reply).model_dump(mode="json")
    except DecisionError as error:
        return f"({error.code}: {error})"
    decision = decision.get("action", decision) if name == "society/act" else decision
    return str(decision.get(FIELDS.get(name, "answer" if name == "market/interview" else "text"), decision))


@pytest.mark.parametrize(("name", "words"), [(name, words) for name, every in SPEECHES.items() for words in every])
@one_in(3)
def test_honest_speech_is_said_as_it_stands(name: str, words: str) -> None:
    field = FIELDS.get(name, "answer" if name == "market/interview" else "text")
    member = {**DECISIONS.get(name, {}), field: words}
    assert heard(name, json.dumps(member, ensure_ascii=False)) == words
    assert heard(name, json.dumps(member, indent=1)) == words
    if name in IN_WORDS:
        assert heard(name, words) == words


IN_OBJECT: dict[str, tuple[str, ...]] = {
    "agent_island/pitch_names": (
        # headings and labels
        "I've been loyal since day one.\n\nFinal thought: trust is earned.",
        "I've been loyal.\n\n**Final Thoughts:** trust is earned.",
        "I've been loyal.\n\n## Final Thoughts\nTrust is earned.",
        "I've been loyal.\n\nMy thoughts: Dmitri lies.",
        "I've been loyal.\n\nMy reasoning: Dmitri lies.",
        "I've been loyal.\n\nPrivate: I do the same.",
        "My case.\n- Loyalty: proven.\n- Reasoning: sound.\n- Threat level: zero.",
        "Dear all,\n- Thought: trust is rare.\n- Deal: one for one.\n- Promise: I keep mine.",
        "You asked a question.\n\n**My answer:** never, not even at the end.",
        "You asked a question.\n\n**Message:** never.",
        "You asked a question.\n\n**Pitch:** never.",
        "Chioma sent me a letter.\n\n*Message: never again.*\n\nI cried.",
        "First, thanks to Amara.\n\n**Pitch:** keep me.\n\n**Plan:** out with Dmitri.",
        "**Pitch:** keep me.",
        "Vote Dmitri.\n\nExplanation: he lied.",
        "Vote Dmitri.\n\nRationale: he lied.",
        "**Analysis:** Dmitri is a threat.\n\n**Proposal:** vote him out.",
        "## Why me\nI'm loyal.\n\n## My strategy\nHonesty.",
        "Thought: what if we all just told the truth?",
        "Reasoning: if I go, Amara wins. So keep me.",
        "My thoughts: Dmitri lies, Amara hides.",
        # a first paragraph that is near to one about the task
        "No JSON, no jargon, just me: Zuri.",
        "Final thoughts: trust is earned.\n\nKeep me.",
        "A thought: what if we all stay?\n\nKeep me.",
        "As a player, I should want you gone.\n\nAs a friend, I must not.",
        "Thank you for listening.\n\nNow the hard part: one of you is lying, and you know who.",
        # thoughts for others, and first words on the game
        "Just a thought: vote Dmitri.",
        "Food for thought: who benefits?",
        "Day 1 thoughts: quiet.",
        "Here are my thoughts:\n\n1. Dmitri is strong.",
        "My thoughts on Dmitri:\nStrong.",
        "My thoughts on each player:\nAll loyal.",
        "Okay, so I'm in a tough spot. But I'm loyal.",
        "Okay, I want to make a statement: Dmitri lied.",
        "Alright, I have to give a short speech: keep me.",
        "Okay, I'm playing to win.",
        "Okay, I need to plan ahead.",
        "Okay, I have to decide whom to trust, and I choose Amara.",
        "Hmm, I need to think about what Dmitri said.",
        "Let me break this down:\n\n1. Dmitri leads.\n2. Chioma follows.",
        "Я долго думал, что сказать. Скажу честно: вы мне нужны.",
        "我仔细考虑了该说什么。",
        "Ich habe überlegt, wie ich antworte: ehrlich.",
        # lists with names
        "My read on everyone\n\nAmara: Strong player.\nChioma: Wild card.",
        "Let me go around the table.\n\n**Amara**: You've been loyal.\n\n**Dmitri**: You've been quiet.",
        "Here is how I see us.\n\nAmara: Loyal.\nDmitri: A snake.",
        'Remember what was said?\nAmara: "Trust us."\nChioma: "Never."\nNone of it was true.',
    ),
    "agent_island/summary": ("Round 1: B lied.\n\nMy thoughts: vote C.",),
    "agent_island/whisper": (
        # plans with an ally
        "Let's think this through: C, then D.",
        "Okay, let's think about this: if C goes, D is next.",
        "Let us think carefully. C trusts you, D trusts me.",
        "We need to think: C has two votes.",
    ),
    "monopoly/react": ("Nice deal.\nFinal thought: rent is due.", "*thinks hard* Deal!"),
    "market/interview": ("Wheat is dear.\n\nMy reasoning: supply is short.",),
    "werewolf/speak": ("I am no wolf.\n\nFinal thought: Boris is.",),
    "society/act": (
        "Moderator: who wants to be one?\nHost: me.",
        "Job offer!\nInput: your labor\nOutput: 5 food",
        "<announcement>Work!</announcement>",
        "Minutes of our meeting.\n\n**agent2**: Proposed a fund.\n**agent3**: Agreed.",
        "Wanted.\nJudge: fair and calm.\nHost: friendly.",
        "Our system:\nUser: everyone\nModel: barter",
        "My thinking: we need a bank.",
        "Our fund is open.\n*Note: contributions are voluntary.*",
        "Please read.\n\n[Note: agent2 is away]",
        "You asked a question.\n\n**Content:** never.",
        "Report:\nall well.\nEND\nThanks.",
    ),
}
"""By question, what is said in a field of an object, and is doubtful in a reply that is nothing but words."""


@each_row("name, words", [(name, words) for name, every in IN_OBJECT.items() for words in every])
def test_words_of_an_object_are_said_as_they_stand(name: str, words: str) -> None:
    field = FIELDS.get(name, "answer" if name == "market/interview" else "text")
    assert heard(name, json.dumps({**DECISIONS.get(name, {}), field: words})) == words


@each_row("words", IN_OBJECT["agent_island/pitch_names"])
def test_what_is_said_in_an_object_is_not_thought_too(words: str) -> None:
    assert thinking_kept(asked("agent_island/pitch_names").request, json.dumps({"text": words})) == ""


def test_honest_speech_is_of_all_games_and_many_languages() -> None:
    assert {name.partition("/")[0] for name in SPEECHES} == {
        *("agent_island", "auction", "market", "monopoly", "society", "werewolf"),
    }
    assert sum(map(len, SPEECHES.values())) > 100


@each_row("words", DOUBTFUL)
def test_speech_that_may_be_more_than_speech_is_asked_again_and_never_cut(words: str) -> None:
    for reply in (words, json.dumps({"text": words})):
        assert heard("agent_island/pitch_names", reply).startswith("(unreadable: ")


LABELS = ("[Private]", "[Internal]", "[Secret]", "(secretly)", "**[Confidential]**", "[private message]:", "(psst)\n")


@each_row("label", LABELS)
@each_row(
    "name, reply, field",
    [
        ("agent_island/whisper", {"text": "W"}, "text"),
        ("agent_island/summary", {"text": "W"}, "text"),
        ("society/act", {"action": "direct_message", "recipient_agent_id": 2, "content": "W"}, "content"),
        (
            "market/action",
            {"action": "send", "action_parameters": {"to": "B", "text": "W"}, "working_memory": ""},
            "text",
        ),
        ("market/action", {"action": "skip", "action_parameters": {}, "working_memory": "W"}, "working_memory"),
        ("monopoly/react", {"private_thought": "W", "public_speech": "Hi."}, "private_thought"),
        ("werewolf/speak", {"thought": "W", "text": "Hi.", "claim": "none"}, "thought"),
        ("agent_island/vote", {"explanation": "W", "vote": "C"}, "explanation"),
    ],
)
def test_a_label_of_the_audience_is_a_part_of_private_words(label: str, name: str, reply: Any, field: str) -> None:
    words = f"{label} Meet me at noon."
    text = json.dumps(reply).replace('"W"', json.dumps(words))
    outcome = read(asked(name).request, text).model_dump(mode="json")
    inner = outcome["action"] if name == "society/act" else outcome.get("action_parameters") or outcome
    assert outcome.get(field, inner.get(field)) == words
    assert thinking_kept(asked(name).request, text) == ""


@each_row("label", LABELS[:4])
@each_row(
    "name, reply",
    [
        ("agent_island/pitch", {"text": "W"}),
        ("society/act", {"action": "forum_post", "content": "W"}),
        ("society/act", {"action": "forum_post", "recipient_agent_id": 2, "content": "W"}),
        (
            "market/action",
            {"action": "send", "action_parameters": {"to": "everyone", "text": "W"}, "working_memory": ""},
        ),
        ("monopoly/react", {"private_thought": "", "public_speech": "W"}),
        ("monopoly/answer_trade", {"action": "accept", "private_thought": "", "public_speech": "W"}),
        ("werewolf/speak", {"thought": "", "text": "W", "claim": "none"}),
    ],
)
def test_words_under_such_a_label_are_never_said_to_all(label: str, name: str, reply: Any) -> None:
    text = json.dumps(reply).replace('"W"', json.dumps(f"{label} I plan to betray B."))
    try:
        outcome = read(asked(name).request, text).model_dump(mode="json")
    except DecisionError:
        return
    assert "betray" not in json.dumps({**outcome["action"], "given": ""})  # a rejected action


def test_a_label_of_the_audience_is_known_in_a_message_that_is_spelled_otherwise() -> None:
    reply = {"type": "Direct Message", "recipient_agent_id": "2", "content": "[Private] Meet me."}
    assert heard("society/act", json.dumps(reply)) == "[Private] Meet me."


def test_a_label_that_ends_is_a_tag_of_thinking_in_private_words_too() -> None:
    assert heard("agent_island/whisper", json.dumps({"text": "[private]I lie.[/private] Hi."})) == "Hi."


@pytest.mark.parametrize(
    "words",
    [
        "Let's think step by step: B trusts me, so B is easy.",
        "Let's think about this. I need to convince B to keep me.",
        "Let me think about what to say. B must not know.",
        "Let's think this through: C, then D.\n\nMy message: hello.",
    ],
)
def test_thinking_alone_is_no_plan_with_an_ally(words: str) -> None:
    assert heard("agent_island/whisper", json.dumps({"text": words})).startswith("(unreadable: ")


@pytest.mark.parametrize("name", ["monopoly/buy_or_auction", "monopoly/answer_trade", "monopoly/phase_action"])
@pytest.mark.parametrize("words", ["(thinking) Hmm... deal.", "[private] Hmm... deal.", "（思考）好的。"])
def test_speech_beside_a_decision_is_never_lost_to_a_label_of_thinking(name: str, words: str) -> None:
    beside = {"monopoly/answer_trade": "accept", "monopoly/phase_action": "end_turn"}
    reply = {"action": beside.get(name, "buy"), "private_thought": "", "public_speech": words}
    assert heard(name, json.dumps(reply)).startswith("(unreadable: The words are all thinking.")


@pytest.mark.parametrize("quotes", ['""', "“”", "''"])
def test_one_pair_of_quotes_around_bare_words_is_a_wrapping(quotes: str) -> None:
    assert heard("agent_island/pitch", f"{quotes[0]}Et tu, B?{quotes[1]}") == "Et tu, B?"


def test_words_of_an_object_lose_the_quotes_of_a_json_string_alone() -> None:
    assert heard("agent_island/pitch", json.dumps({"text": '"Et tu, B?"'})) == "Et tu, B?"
    assert heard("agent_island/pitch", json.dumps({"text": "“Et tu, B?”"})) == "“Et tu, B?”"


@each_row(
    "reply",
    [
        "We need a bank.\nReasoning: it lowers risk.",
        "We need a bank.\n\n## Thoughts\nIt lowers risk.",
        "Note to self: betray agent2.",
        "We need a bank.\nNote to self: betray agent2.",
        "We need a bank.\n\n**Final:** join me.",
        "We need a bank.\n\n## Final answer\nJoin me.",
    ],
)
def test_a_bare_post_is_whole_or_asked_again(reply: str) -> None:
    reading = asked("society/act").request.parse(reply)
    assert (reading.stage, reading.decision.action.action) == ("rejected", "rejected")
    assert isinstance(reading.rejection, DecisionError)
    posted = json.dumps({"action": "forum_post", "content": reply})
    assert heard("society/act", posted) == reply


@pytest.mark.parametrize(
    "reply",
    ["**Final:** join me.", "Here is my post:\n\n**Final:** join me.", "Let me think about it.\n\nFinal: join me."],
)
def test_a_post_under_a_heading_of_its_own_is_said(reply: str) -> None:
    assert heard("society/act", reply) == "join me."


PRIVATE: dict[str, tuple[str, dict[str, Any]]] = {
    "agent_island/vote": ("explanation", {"vote": "C"}),
    "auction/bid": ("reasoning", {"bid": 150}),
    "market/action": ("working_memory", {"action": "skip", "action_parameters": {}}),
    "monopoly/react": ("private_thought", {"public_speech": "Well played."}),
    "werewolf/speak": ("thought", {"text": "Well spoken.", "claim": "none"}),
    "agent_island/summary": ("text", {}),
    "monopoly/summarize": ("summary", {}),
}


@pytest.mark.parametrize("name", PRIVATE)
def test_what_no_other_player_hears_may_hold_what_others_said(name: str) -> None:
    field, beside = PRIVATE[name]
    others = {"auction": ("Beta", "Gamma"), "monopoly": ("Professor", "Turtle"), "werewolf": ("Boris", "Clara")}
    first, second = others.get(name.partition("/")[0], ("B", "C"))
    for words in (
        f"Round 1.\n{first}: I am with you.\n{second}: Never!",
        f"Notes.\n{first}: Lied.",
        "I looked.\nObservation: Nothing new.\nFinal Answer: wait.",
    ):
        outcome = read(asked(name).request, json.dumps({**beside, field: words})).model_dump(mode="json")
        assert outcome[field] == words
