//! Splits the text of a label selector into tokens; every text can be split.

/// One token of a label selector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    Word(String),
    Not,
    /// Both ways to write it mean the same; refusals show what stood there.
    Equal(&'static str),
    NotEqual,
    Greater,
    Less,
    Open,
    Close,
    Comma,
}

impl Token {
    /// Gives the token as it stands in the text.
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Word(word) => word,
            Self::Not => "!",
            Self::Equal(text) => text,
            Self::NotEqual => "!=",
            Self::Greater => ">",
            Self::Less => "<",
            Self::Open => "(",
            Self::Close => ")",
            Self::Comma => ",",
        }
    }
}

pub(super) fn scan(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, length) = token(rest, first);
        tokens.push(token);
        rest = rest[length..].trim_start();
    }
    tokens
}

fn token(rest: &str, first: char) -> (Token, usize) {
    match first {
        '=' if rest.starts_with("==") => (Token::Equal("=="), 2),
        '=' => (Token::Equal("="), 1),
        '!' if rest.starts_with("!=") => (Token::NotEqual, 2),
        '!' => (Token::Not, 1),
        '>' => (Token::Greater, 1),
        '<' => (Token::Less, 1),
        '(' => (Token::Open, 1),
        ')' => (Token::Close, 1),
        ',' => (Token::Comma, 1),
        _ => {
            let end = rest.find(ends_word).unwrap_or(rest.len());
            (Token::Word(rest[..end].to_owned()), end)
        }
    }
}

fn ends_word(letter: char) -> bool {
    letter.is_whitespace() || "=!><(),".contains(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selector_is_split_at_signs_and_spaces() {
        let texts: Vec<String> = scan(" a.b/c!=d, ü  notin (e,)>")
            .iter()
            .map(|token| token.text().to_owned())
            .collect();
        assert_eq!(
            texts,
            [
                "a.b/c", "!=", "d", ",", "ü", "notin", "(", "e", ",", ")", ">"
            ]
        );
    }
}
